import { describe, expect, test } from 'vitest';
import { parseFixtures } from '../../src/fixtures/read-fixtures.js';
import { defineTool } from '../../src/mock/handlers.js';
import { replying, type StartedMock, startMock, watchedClock } from './start-mock.js';

async function textOf(mock: StartedMock, id: string, options: object = {}) {
  return (await (await mock.invoke({ id, ...options })).result()).body?.['text'];
}

describe('close() sends everything at once', () => {
  test('an event on demand that was not fired is not sent', async () => {
    const reply = [{ result: { text: 'on', subscription: true } }, { event: { text: 'now' }, on: 'demand' }];
    await using mock = await startMock(replying(reply));
    const call = await mock.invoke();
    await call.result();
    await mock.tool.close({ drainMs: 10_000 });
    expect(call.callbacks).toHaveLength(1);
  });

  test('what is left after the time limit is dropped with a report; a handler is notified', async () => {
    const heard: unknown[] = [];
    const handle = ({ signal }: { signal: AbortSignal }) =>
      new Promise(resolve => signal.addEventListener('abort', () => resolve(heard.push(signal.reason))));
    const handlers = [defineTool({ name: 'op', description: '', inputSchema: {}, handle })];
    await using mock = await startMock(null, { handlers });
    await mock.invoke();
    await mock.tool.close({ drainMs: 0 });
    expect(heard).toEqual(['the tool is stopping']);
    expect(mock.tool.verify()).toMatchObject({ ok: false, undelivered: { count: 1 } });
  });
});

describe('redeliver() sends the last callback again', () => {
  test('the same bytes to the same address', async () => {
    await using mock = await startMock(replying({ payload: '{{uuid}}' }));
    const call = await mock.invoke();
    await call.result();
    const { key } = await mock.tool.waitForDelivery('i');
    expect(mock.tool.redeliver(key)).toBe(true);
    const again = await call.waitFor(callback => callback !== call.callbacks[0]);
    expect([again.raw, again.url]).toEqual([call.callbacks[0]?.raw, call.callbacks[0]?.url]);
    expect(mock.runtime.verdict()).toEqual([]);
    expect(mock.tool.calls()[0]?.deliveries).toHaveLength(2);
  });

  test('also of a malformed call, in its own thread', async () => {
    await using mock = await startMock(replying({ payload: 'x' }));
    const call = await mock.invoke({ fields: { operation: 7 } });
    await call.next();
    const { key } = await mock.tool.waitForDelivery('i');
    expect(mock.tool.redeliver(key)).toBe(true);
    await call.waitFor(callback => callback !== call.callbacks[0]);
    const ofCalls = mock.eventsOfKind('request').filter(({ purpose }) => purpose !== 'discovery');
    expect(new Set(ofCalls.map(({ thread }) => thread))).toEqual(new Set(['g']));
  });
});

describe('reset()', () => {
  const sequence = {
    fixtures: [
      {
        id: 'one',
        match: { operation: 'op' },
        sequence: [{ payload: '1' }, { payload: '2' }],
        exhausted: 'last',
      },
    ],
  };

  test('of everything: also the list of calls, repeats and verification', async () => {
    await using mock = await startMock(sequence);
    const call = await mock.invoke();
    await call.result();
    await mock.tool.waitForDelivery('i');
    mock.tool.reset();
    expect([mock.tool.events, mock.tool.calls(), mock.tool.verify().fixtures]).toMatchObject([
      [],
      [],
      [{ id: 'one', calls: 0, status: 'unused' }],
    ]);
    await mock.post('/invoke', JSON.stringify(call.invocation));
    expect(await mock.tool.waitForDelivery('i')).toMatchObject({ arrivals: 1 });
  });
});

describe('replaceFixtures()', () => {
  test('applies from the next call on; counts stay', async () => {
    const clock = watchedClock();
    await using mock = await startMock(replying({ payload: 'old {{count}}', delay: 5 }), { clock });
    const first = await mock.invoke({ id: 'a' });
    await clock.nextWait();
    await mock.tool.replaceFixtures(parseFixtures({ version: 1, ...replying({ payload: 'new {{count}}' }) }));
    clock.advance(5);
    expect((await first.result()).body).toMatchObject({ text: 'old 1' });
    expect(await textOf(mock, 'b')).toBe('new 2');
  });

  test('replaces the toolset at once', async () => {
    await using mock = await startMock(replying({ payload: 'x' }));
    const fixtures = [{ match: { operation: 'other' }, reply: { payload: 'y' } }];
    await mock.tool.replaceFixtures(parseFixtures({ version: 1, fixtures }));
    expect((await mock.runtime.discover(mock.tool.url)).tools.map(({ name }) => name)).toEqual(['other']);
    expect(await textOf(mock, 'a', { operation: 'other' })).toBe('y');
    expect(mock.tool.toolset.tools).toHaveLength(1);
  });
});
