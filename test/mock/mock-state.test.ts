import { describe, expect, test } from 'vitest';
import { parseFixtures } from '../../src/fixtures/read-fixtures.js';
import { defineTool } from '../../src/mock/handlers.js';
import { replying, type Stage, stageWith, watchedClock } from './stage.js';

async function textOf(stage: Stage, id: string, options: object = {}) {
  return (await (await stage.invoke({ id, ...options })).result()).body?.['text'];
}

describe('close() sends everything at once', () => {
  test('an event on demand that was not fired is not sent', async () => {
    const reply = [{ result: { text: 'on', subscription: true } }, { event: { text: 'now' }, on: 'demand' }];
    await using stage = await stageWith(replying(reply));
    const call = await stage.invoke();
    await call.result();
    await stage.tool.close({ drainMs: 10_000 });
    expect(call.callbacks).toHaveLength(1);
  });

  test('what is left after the time limit is dropped with a report; a handler is notified', async () => {
    const heard: unknown[] = [];
    const handle = ({ signal }: { signal: AbortSignal }) =>
      new Promise(resolve => signal.addEventListener('abort', () => resolve(heard.push(signal.reason))));
    const handlers = [defineTool({ name: 'op', description: '', inputSchema: {}, handle })];
    await using stage = await stageWith(null, { handlers });
    await stage.invoke();
    await stage.tool.close({ drainMs: 0 });
    expect(heard).toEqual(['the tool is stopping']);
    expect(stage.tool.verify()).toMatchObject({ ok: false, undelivered: { count: 1 } });
  });
});

describe('redeliver() sends the last callback again', () => {
  test('the same bytes to the same address', async () => {
    await using stage = await stageWith(replying({ payload: '{{uuid}}' }));
    const call = await stage.invoke();
    await call.result();
    const { key } = await stage.tool.waitForDelivery('i');
    expect(stage.tool.redeliver(key)).toBe(true);
    const again = await call.waitFor(callback => callback !== call.callbacks[0]);
    expect([again.raw, again.url]).toEqual([call.callbacks[0]?.raw, call.callbacks[0]?.url]);
    expect(stage.runtime.verdict()).toEqual([]);
    expect(stage.tool.calls()[0]?.deliveries).toHaveLength(2);
  });

  test('also of a malformed call, in its own thread', async () => {
    await using stage = await stageWith(replying({ payload: 'x' }));
    const call = await stage.invoke({ fields: { operation: 7 } });
    await call.next();
    const { key } = await stage.tool.waitForDelivery('i');
    expect(stage.tool.redeliver(key)).toBe(true);
    await call.waitFor(callback => callback !== call.callbacks[0]);
    const ofCalls = stage.told('request').filter(({ purpose }) => purpose !== 'discovery');
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
    await using stage = await stageWith(sequence);
    const call = await stage.invoke();
    await call.result();
    await stage.tool.waitForDelivery('i');
    stage.tool.reset();
    expect([stage.tool.events, stage.tool.calls(), stage.tool.verify().fixtures]).toMatchObject([
      [],
      [],
      [{ id: 'one', calls: 0, status: 'unused' }],
    ]);
    await stage.post('/invoke', JSON.stringify(call.invocation));
    expect(await stage.tool.waitForDelivery('i')).toMatchObject({ arrivals: 1 });
  });
});

describe('replaceFixtures()', () => {
  test('applies from the next call on; counts stay', async () => {
    const clock = watchedClock();
    await using stage = await stageWith(replying({ payload: 'old {{count}}', delay: 5 }), { clock });
    const first = await stage.invoke({ id: 'a' });
    await clock.nextWait();
    await stage.tool.replaceFixtures(
      parseFixtures({ version: 1, ...replying({ payload: 'new {{count}}' }) }),
    );
    clock.advance(5);
    expect((await first.result()).body).toMatchObject({ text: 'old 1' });
    expect(await textOf(stage, 'b')).toBe('new 2');
  });

  test('replaces the toolset at once', async () => {
    await using stage = await stageWith(replying({ payload: 'x' }));
    const fixtures = [{ match: { operation: 'other' }, reply: { payload: 'y' } }];
    await stage.tool.replaceFixtures(parseFixtures({ version: 1, fixtures }));
    expect((await stage.runtime.discover(stage.tool.url)).tools.map(({ name }) => name)).toEqual(['other']);
    expect(await textOf(stage, 'a', { operation: 'other' })).toBe('y');
    expect(stage.tool.toolset.tools).toHaveLength(1);
  });
});
