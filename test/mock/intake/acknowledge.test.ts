import { describe, expect, test } from 'vitest';
import { replying, stageWith, watchedClock } from '../stage.js';

const faulty = (faults: object, reply: unknown = { payload: 'done' }) => replying(reply, { faults });

describe('TOOL-ACK, TOOL-ASYNC', () => {
  test('200 at once, with nothing in it; the work comes after it', async () => {
    await using stage = await stageWith(replying({ payload: 'done' }));
    const call = await stage.invoke();
    expect([call.ack.status, call.ack.body]).toEqual([200, '']);
    expect((await call.result()).beforeAck).toBe(false);
    expect(stage.tool.calls()).toMatchObject([{ acknowledgement: { status: 200 } }]);
  });
});

describe('faults of the acknowledgement', () => {
  test('a status: not executed; the same invocation is a new attempt, which draws anew', async () => {
    await using stage = await stageWith(faulty({ ack: { status: 503, probability: 0.5 } }), { seed: 'c' });
    const statuses: unknown[] = [];
    const body = JSON.stringify((await stage.invoke({ operation: 'op' })).invocation);
    statuses.push(stage.runtime.calls[0]?.ack.status);
    while (statuses.at(-1) !== 200 && statuses.length < 50)
      statuses.push((await stage.invoke({ body })).ack.status);
    expect(statuses.at(-1)).toBe(200);
    await stage.tool.waitForDelivery('i');
    const [call] = stage.tool.calls();
    expect(call).toMatchObject({ arrivals: statuses.length, answeredBy: 'one' });
    expect(call?.deliveries).toHaveLength(1);
    expect(stage.told('matched')).toMatchObject([{ fixture: 'one', count: 1 }]);
    expect(stage.tool.verify()).toMatchObject({ ok: true, calls: 1 });
  });

  test('a refused call counts nothing: its sequence begins when it is accepted', async () => {
    await using stage = await stageWith(faulty({ ack: { status: 500 } }, { payload: '{{count}}' }));
    for (const _ of [1, 2]) expect((await stage.invoke()).ack.status).toBe(500);
    expect(stage.told('planned').map(({ plan }) => plan)).toEqual(['ack status', 'ack status']);
    expect(stage.told('matched')).toEqual([]);
  });

  test('a delay: the answer waits, and the work waits for the answer', async () => {
    const clock = watchedClock();
    await using stage = await stageWith(faulty({ ack: { delay: '2s' } }), { clock });
    const pending = stage.invoke();
    expect(await clock.nextWait()).toBe(2_000);
    expect(stage.told('response').filter(({ calls }) => calls)).toEqual([]);
    clock.advance(2_000);
    const call = await pending;
    expect(call.ack.status).toBe(200);
    expect((await call.result()).beforeAck).toBe(false);
  });

  test('hang: no answer, and the result comes all the same', async () => {
    await using stage = await stageWith(faulty({ ack: { hang: true } }));
    const call = await stage.invoke({ ackWithinMs: 100 });
    expect(call.ack.status).toBeNull();
    expect((await call.result()).body).toMatchObject({ text: 'done' });
  });

  test('reset: the connection breaks, and the result comes all the same', async () => {
    await using stage = await stageWith(faulty({ ack: { reset: true } }));
    const call = await stage.invoke();
    expect(call.ack).toMatchObject({ status: null, error: expect.stringMatching(/reset|hang up/i) });
    expect((await call.result()).body).toMatchObject({ text: 'done' });
    expect(stage.told('broken')).toMatchObject([{ phase: 'answer', code: 'PLANNED' }]);
    const again = await stage.invoke({ body: JSON.stringify(call.invocation) });
    expect(again.ack.status).toBe(200);
    expect(stage.tool.calls()).toMatchObject([{ arrivals: 2, deliveries: [{}] }]);
  });
});

describe('a callback before the acknowledgement', () => {
  test.each<[string, unknown]>([
    ['one', { payload: 'done' }],
    ['the first of several', [{ event: { text: 'first' } }, { payload: 'done' }]],
  ])('%s', async (_, reply) => {
    await using stage = await stageWith(faulty({ callback: ['before-ack'] }, reply));
    const call = await stage.invoke();
    expect(call.ack.status).toBe(200);
    await call.result();
    expect(call.callbacks[0]?.beforeAck).toBe(true);
  });

  test('where none is ever sent the answer comes all the same', async () => {
    await using stage = await stageWith(faulty({ callback: ['before-ack', 'drop'] }));
    expect((await stage.invoke()).ack.status).toBe(200);
    await using silent = await stageWith(faulty({ callback: ['before-ack'] }, { silence: true }));
    expect((await silent.invoke()).ack.status).toBe(200);
  });
});
