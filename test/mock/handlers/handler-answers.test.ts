import { describe, expect, test } from 'vitest';
import { defineTool, type HandlerCall } from '../../../src/mock/handlers.js';
import {
  canceled,
  denied,
  error,
  payload,
  result,
  type ToolOutput,
  timeout,
} from '../../../src/mock/tool-output.js';
import { startMock, watchedClock } from '../start-mock.js';

const definition = { name: 'op', description: 'In code', inputSchema: {} };
type Input = Parameters<ReturnType<typeof defineTool>['handle']>[0];

/** A mock whose one operation is a function. */
function startHandler(handle: (input: Input, call: HandlerCall) => unknown) {
  return startMock(null, { handlers: [defineTool({ ...definition, handle })] });
}

const message = (text: string) =>
  `{"type":"tool_result","group_id":"g","id":"i","call_id":"c","text":${JSON.stringify(text)}}`;

describe('TOOL-ALWAYS: every call of a handler ends in a result', () => {
  const RETURNS: readonly (readonly [what: string, handle: () => unknown, text: string])[] = [
    ['a text', () => 'done', 'done'],
    ['JSON', () => ({ n: [1, null] }), '{"n":[1,null]}'],
    ['nothing', () => undefined, 'null'],
    ['a promise', () => Promise.resolve(7), '7'],
    ['a date', () => ({ at: new Date(0) }), '{"at":"1970-01-01T00:00:00.000Z"}'],
    ['JSON that looks like a step', () => ({ kind: 'result', result: 1 }), '{"kind":"result","result":1}'],
    ['payload', () => payload('p'), 'p'],
    ['result', () => result({ text: 'verbatim \u0007' }), 'verbatim \u0007'],
    ['error', () => error('no disk'), 'Error: no disk'],
    ['canceled', () => canceled('late'), '{"canceled":{"reason":"late","by":"system"}}'],
    ['timeout', () => timeout(5), '{"timeout":{"durationMs":5}}'],
    ['denied', () => denied('rm', 'no'), '{"denied":{"tool":"rm","reason":"no"}}'],
    ['TOOL-NOLEAK: an error', () => Promise.reject(new TypeError('no disk')), 'Error: no disk'],
    ['an error without a message', () => Promise.reject(new TypeError()), 'Error: TypeError'],
    ['a thrown text', () => Promise.reject('no disk'), 'Error: no disk'],
    ['a thrown object', () => Promise.reject(Object.create(null)), 'Error: the tool failed'],
    ['a symbol', () => Promise.reject(Symbol('x')), 'Error: Symbol(x)'],
    ['a rejection without a value', () => Promise.reject(), 'Error: undefined'],
    ['a value that is not JSON', () => ({ n: 1n }), 'Error: Do not know how to serialize a BigInt'],
  ];

  test('whatever it returns or throws', async () => {
    const handlers = RETURNS.map(([, handle], n) => defineTool({ ...definition, name: `op${n}`, handle }));
    await using mock = await startMock(null, { handlers });
    for (const [n, [what, , text]] of RETURNS.entries()) {
      const call = await mock.invoke({ operation: `op${n}`, callId: 'c' });
      expect([what, (await call.result()).raw]).toEqual([what, message(text)]);
    }
  });

  test.each(['telepathy', 'toString', '__proto__'])(
    'seed 003: an unknown kind, %s, is reported and ends in an error',
    async kind => {
      const output = { [Symbol.for('protocol-cli.output')]: true, kind } as unknown as ToolOutput;
      await using mock = await startHandler(() => output);
      const { body } = await (await mock.invoke()).result();
      expect(body).toMatchObject({ text: `Error: unknown kind of reply: "${kind}"` });
      expect(mock.eventsOfKind('warned')).toMatchObject([
        { message: `the call failed: unknown kind of reply: "${kind}"` },
      ]);
    },
  );
});

describe('context of a handler', () => {
  test('TOOL-CANCEL: a cancel notice aborts the signal, with the reason', async () => {
    await using mock = await startHandler(
      ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    );
    const call = await mock.invoke();
    await mock.tool.waitForCall('op');
    await mock.runtime.cancel(mock.tool.url, 'g', 'i');
    expect((await call.result()).body).toMatchObject({
      text: '{"canceled":{"reason":"the call was canceled","by":"user"}}',
    });
  });
});

describe('TOOL-ALWAYS: a handler that ignores its signal', () => {
  test('the call ends without it soon after a cancel; later messages are not sent', async () => {
    const clock = watchedClock();
    let wake = () => {};
    const never = new Promise<void>(resolve => {
      wake = resolve;
    });
    let whenDone: Promise<unknown> = Promise.resolve();
    const handle = (_: Input, call: HandlerCall) => {
      whenDone = never.then(() => call.view({ view_type: 'x', content: {} }));
      return whenDone.then(() => Promise.reject(new Error('too late')));
    };
    await using mock = await startMock(null, {
      handlers: [defineTool({ ...definition, handle })],
      clock,
    });
    const call = await mock.invoke();
    await mock.until(({ kind }) => kind === 'matched');
    await mock.runtime.cancel(mock.tool.url, 'g', 'i');
    expect(await clock.nextWait()).toBe(1_000);
    clock.advance(1_000);
    expect((await call.result()).body).toMatchObject({
      text: '{"canceled":{"reason":"the call was canceled","by":"user"}}',
    });
    wake();
    await whenDone;
    expect(call.callbacks).toHaveLength(1);
    expect(clock.pending()).toBe(0);
  });
});

describe('TOOL-SUB: a subscription continues after the handler returned', () => {
  const subscribing = () => {
    let call: HandlerCall | undefined;
    let signal: AbortSignal | undefined;
    const handle = (input: Input, given: HandlerCall) => {
      [call, signal] = [given, input.signal];
      return result({ text: 'on', subscription: true });
    };
    return {
      start: () => startHandler(handle),
      event: (event: Parameters<HandlerCall['event']>[0]) => call?.event(event),
      isAborted: () => signal?.aborted,
    };
  };
  const textsOf = (call: Awaited<ReturnType<Awaited<ReturnType<typeof startHandler>>['invoke']>>) =>
    call.callbacks.map(({ body }) => body?.['text']);

  test('until its final event', async () => {
    const { start, event } = subscribing();
    await using mock = await start();
    const call = await mock.invoke();
    await mock.tool.waitForDelivery('i');
    await event('one');
    await event({ text: 'last', final: true });
    await event('one more');
    expect(textsOf(call)).toEqual(['on', 'one', 'last']);
    expect(mock.eventsOfKind('warned')).toMatchObject([
      { message: 'an event was not sent: the call is over' },
    ]);
  });

  test.each(['cancel', 'closeThread'] as const)('until a %s, which aborts its signal', async end => {
    const { start, event, isAborted } = subscribing();
    await using mock = await start();
    const call = await mock.invoke();
    await mock.tool.waitForDelivery('i');
    await event('one');
    expect(isAborted()).toBe(false);
    await mock.runtime[end](mock.tool.url, 'g', 'i');
    expect(isAborted()).toBe(true);
    await event('two');
    expect(textsOf(call)).toEqual(['on', 'one']);
    expect(mock.eventsOfKind('warned')).toEqual([]);
  });

  test('does not delay the end of the tool', async () => {
    const { start, event, isAborted } = subscribing();
    await using mock = await start();
    await mock.invoke();
    await mock.tool.waitForDelivery('i');
    await event('one');
    await mock.tool.close({ drainMs: 3_600_000 });
    expect(isAborted()).toBe(true);
  });
});
