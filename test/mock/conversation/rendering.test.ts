import { describe, expect, test } from 'vitest';
import type { CallbackFault } from '../../../src/fixtures/schema/file.js';
import { render } from '../../../src/mock/rap-conversation.js';
import { replying, stageWith, watchedClock } from '../stage.js';

const message = { type: 'tool_result', group_id: 'g', id: 'i', text: 'é' };
const sourceOf = (faults: readonly CallbackFault[], fields: object = message) =>
  Buffer.from(render({ ...fields }, faults).body.bytes).toString();

describe('TOOL-POST: a message', () => {
  test('without faults it is compact JSON, sent once', () => {
    expect(sourceOf([])).toBe('{"type":"tool_result","group_id":"g","id":"i","text":"é"}');
    expect(render(message, [])).toMatchObject({
      contentType: 'application/json',
      isSlow: false,
      lateMs: 0,
      copies: 1,
    });
  });

  test('row 20: a lone surrogate goes out escaped', () => {
    expect(sourceOf([], { text: '\ud800' })).toBe('{"text":"\\ud800"}');
  });

  test.each<[CallbackFault, object]>([
    [{ kind: 'drop' }, { copies: 0 }],
    [{ kind: 'duplicate' }, { copies: 2 }],
    [{ kind: 'before-ack' }, { copies: 1 }],
    [{ kind: 'late', ms: 3_000 }, { lateMs: 3_000 }],
    [{ kind: 'slow' }, { isSlow: true }],
    [{ kind: 'wrong-type' }, { contentType: 'text/plain' }],
  ])('%j', (fault, rendering) => {
    expect(render(message, [fault])).toMatchObject(rendering);
    expect(sourceOf([fault])).toBe(sourceOf([]));
  });

  test.each<[CallbackFault['kind'], object, object]>([
    ['wrong-id', message, { ...message, id: 'unknown-id' }],
    [
      'wrong-id',
      { type: 'subscription_event', tool_call_id: 'i' },
      { type: 'subscription_event', tool_call_id: 'unknown-id' },
    ],
    ['wrong-id', { type: 'view_update', group_id: 'g' }, { type: 'view_update', group_id: 'g' }],
    ['wrong-group', message, { ...message, group_id: 'unknown-thread' }],
  ])('%s of %j', (kind, before, after) => {
    expect(JSON.parse(sourceOf([{ kind } as CallbackFault], before))).toEqual(after);
  });

  test('malformed: no JSON', () => {
    expect(() => JSON.parse(sourceOf([{ kind: 'malformed' }]))).toThrow();
  });

  test('oversize: one byte more than a listener takes, and valid otherwise', () => {
    const { body } = render(message, [{ kind: 'oversize' }]);
    expect(body.size).toBeGreaterThan(64 * 1024 * 1024);
    expect(JSON.parse(Buffer.from(body.bytes).toString())).toEqual(message);
  });

  test('several at once', () => {
    const faults: CallbackFault[] = [
      { kind: 'duplicate' },
      { kind: 'wrong-id' },
      { kind: 'late', ms: 1 },
      { kind: 'late', ms: 2 },
    ];
    expect(render(message, faults)).toMatchObject({ copies: 2, lateMs: 3 });
    expect(render(message, [{ kind: 'drop' }, { kind: 'duplicate' }]).copies).toBe(0);
  });
});

describe.concurrent('faults on the wire', () => {
  const faulty = (...callback: unknown[]) => replying({ payload: 'done' }, { faults: { callback } });

  test('duplicate: the same bytes twice', async () => {
    await using stage = await stageWith(faulty('duplicate'));
    const call = await stage.invoke();
    const [first, second] = [await call.next(), await call.next()];
    expect(second.raw).toBe(first.raw);
    expect(stage.runtime.verdict()).toEqual([]);
  });

  test.each(['wrong-id', 'wrong-group', 'malformed', 'wrong-type'])(
    '%s: the runtime sees it',
    async fault => {
      await using stage = await stageWith(faulty(fault));
      const call = await stage.invoke();
      await call.next();
      expect(call.faults.map(({ id }) => id)).not.toEqual([]);
      expect(stage.told('planned')).toMatchObject([{ by: 'fault', plan: fault }]);
    },
  );

  test('drop: nothing is sent, and it is logged', async () => {
    await using stage = await stageWith(faulty('drop'));
    const call = await stage.invoke();
    await stage.until(({ kind }) => kind === 'planned');
    await stage.tool.close();
    expect([call.callbacks, stage.told('planned')]).toMatchObject([[], [{ plan: 'drop' }]]);
    expect(stage.tool.verify().undelivered.count).toBe(0);
  });

  test('late: it waits', async () => {
    const clock = watchedClock();
    await using stage = await stageWith(faulty({ late: '3s' }), { clock });
    const call = await stage.invoke();
    expect(await clock.nextWait()).toBe(3_000);
    clock.advance(2_999);
    expect(call.callbacks).toEqual([]);
    clock.advance(1);
    await call.result();
  });

  test('slow: it drips, and is whole', async () => {
    await using stage = await stageWith(faulty('slow'));
    const call = await stage.invoke();
    expect((await call.result()).body).toMatchObject({ text: 'done' });
    expect(stage.tool.calls()[0]?.plans).toEqual(['slow']);
  });

  test('each callback draws its own, from the seed', async () => {
    const reply = [
      ...Array.from({ length: 20 }, (_, n) => ({ event: { text: `${n}` } })),
      { payload: 'done' },
    ];
    const plans = async () => {
      const faults = { callback: [{ duplicate: true, probability: 0.5 }] };
      await using stage = await stageWith(replying(reply, { faults }), { seed: 'x' });
      await stage.invoke();
      return (await stage.tool.waitForDelivery('i')).deliveries.map(({ body }) => body?.sha256);
    };
    const first = await plans();
    expect(first.length).toBeGreaterThan(21);
    expect(first.length).toBeLessThan(42);
    expect(await plans()).toEqual(first);
  });
});
