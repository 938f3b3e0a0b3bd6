import { describe, expect, test } from 'vitest';
import { replying, stageWith, watchedClock } from '../stage.js';

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
