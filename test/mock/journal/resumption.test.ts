import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { Content } from '../../../src/events/content.js';
import { defineTool, type HandlerCall, result } from '../../../src/mock/handlers.js';
import { Intake } from '../../../src/mock/intake.js';
import { JournalLines, type Recovery } from '../../../src/mock/journal/recovery.js';
import { OpenCalls } from '../../../src/mock/plan.js';
import { intakeWith, replying, stageWith } from '../stage.js';
import { temporaryFolder } from './runs.js';

test('with a journal, a handler is also told that the tool stops, and the next run repeats its work', async () => {
  await using folder = await temporaryFolder();
  let heard = () => {};
  const aborted = new Promise<void>(resolve => {
    heard = resolve;
  });
  const options = (handle: (input: { readonly signal: AbortSignal }) => Promise<string>) => ({
    journal: { path: folder.path },
    handlers: [defineTool({ name: 'op', description: 'Does it', inputSchema: { type: 'object' }, handle })],
  });
  const polite = ({ signal }: { readonly signal: AbortSignal }) =>
    new Promise<string>(resolve => {
      signal.addEventListener('abort', () => {
        heard();
        resolve('half of it');
      });
    });
  await using first = await stageWith(null, options(polite));
  const call = await first.invoke();
  await first.tool.close();
  await aborted;
  await using next = await stageWith(
    null,
    options(async () => 'all of it'),
  );
  expect((await call.result()).body).toMatchObject({ id: 'i', text: 'all of it' });
  await next.tool.waitForDelivery('i');
  expect(next.tool.calls()).toMatchObject([{ answeredBy: 'handler:op' }]);
  expect(next.tool.verify().calls).toBe(0);
});

test('TOOL-SUB: a subscription of a resumed handler can be canceled after its result', async () => {
  await using folder = await temporaryFolder();
  type Input = { readonly signal: AbortSignal };
  const options = (handle: (input: Input, call: HandlerCall) => unknown) => ({
    journal: { path: folder.path },
    handlers: [defineTool({ name: 'op', description: 'Does it', inputSchema: { type: 'object' }, handle })],
  });
  await using first = await stageWith(
    null,
    options(() => new Promise(() => {})),
  );
  const call = await first.invoke();
  await first.tool.close();
  let resumed: { readonly signal: AbortSignal; readonly say: HandlerCall['event'] } | undefined;
  const subscribing = ({ signal }: Input, { event }: HandlerCall) => {
    resumed = { signal, say: event };
    return result({ text: 'on', subscription: true });
  };
  await using next = await stageWith(null, options(subscribing));
  await next.tool.waitForDelivery('i');
  await resumed?.say('one');
  await first.runtime.cancel(next.tool.url, 'g', 'i');
  expect(resumed?.signal.aborted).toBe(true);
  await resumed?.say('two');
  expect(call.callbacks.map(({ body }) => body?.['text'])).toEqual(['on', 'one']);
});

test('TOOL-ALWAYS: a call that can no longer be planned ends in an error and is not open', async () => {
  const openCalls = new OpenCalls();
  const { parts, sent } = await intakeWith(null, { openCalls });
  const broken = () => {
    throw new Error('no such plan');
  };
  const to = { id: 'i', group_id: 'g', callback_url: 'http://127.0.0.1:9/' };
  const invocation = Content.ofJson({ operation: 'op', arguments: {}, ...to });
  const call = { key: 'k', thread: 'g', invocation, headers: {}, rendered: [], isAnswered: false };
  const stood = { matched: null, refusal: null, turn: null, cancelReason: null };
  Object.assign(parts.responder, { plan: broken });
  const recovered = { ...call, ...stood } as unknown as Recovery['calls'][number];
  await new Intake(parts).resume(recovered, 'http://127.0.0.1');
  await openCalls.idle();
  expect(sent).toEqual(['Error: no such plan']);
});

test('a repeat is recognized as long as the journal contains the call', async () => {
  await using folder = await temporaryFolder();
  const callback_url = 'http://127.0.0.1:9/callback';
  const bodyOf = (id: string) =>
    JSON.stringify({ operation: 'op', arguments: {}, id, call_id: null, callback_url, group_id: 'g' });
  const settled = Array.from({ length: 12_000 }, (_, n) => {
    const { sha256 } = new Content(Buffer.from(bodyOf(`i${n}`)));
    return { groupId: 'g', id: `i${n}`, sha256 };
  });
  const about = { startedAt: '2025-01-01T00:00:00Z', program: 'test/1' };
  const lines = [...new JournalLines().rewritten({ calls: [], matched: [], settled }, about)];
  await writeFile(folder.path, lines.join(''));
  await using stage = await stageWith(replying({ payload: 'done' }), { journal: { path: folder.path } });
  const answer = await stage.post('/invoke', bodyOf('i0'));
  expect([answer.status, stage.told('matched')]).toEqual([200, []]);
});
