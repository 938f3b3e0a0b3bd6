import { describe, expect, test } from 'vitest';
import { OpenCalls } from '../../../src/mock/plan.js';
import { intakeWith, replying, startMock, watchedClock } from '../start-mock.js';

const messages = (mock: Awaited<ReturnType<typeof startMock>>) =>
  mock.eventsOfKind('warned').map(({ message }) => message);

describe('a repeated invocation', () => {
  test('TOOL-ONCE: is acknowledged and not executed', async () => {
    await using mock = await startMock(replying({ payload: '{{count}}' }));
    const call = await mock.invoke();
    const body = JSON.stringify(call.invocation);
    const repeats = await Promise.all([1, 2, 3].map(() => mock.post('/invoke', body)));
    expect(repeats.map(({ status }) => status)).toEqual([200, 200, 200]);
    await mock.tool.waitForDelivery('i');
    expect(mock.tool.calls()).toMatchObject([{ arrivals: 4, deliveries: [{ attempts: [{}] }] }]);
    expect(
      mock
        .eventsOfKind('request')
        .filter(({ purpose }) => purpose === 'invocation')
        .map(({ attempt }) => attempt),
    ).toEqual([1, 2, 3, 4]);
    expect(call.callbacks).toHaveLength(1);
    expect(mock.tool.verify().calls).toBe(1);
  });

  test('with allowRepeats it is executed again, and each execution can be canceled', async () => {
    const clock = watchedClock();
    const file = replying({ payload: '{{count}}', delay: '1h' });
    await using mock = await startMock(file, { allowRepeats: true, clock });
    const call = await mock.invoke();
    await clock.nextWait();
    await mock.post('/invoke', JSON.stringify(call.invocation));
    await clock.nextWait();
    await mock.runtime.cancel(mock.tool.url, 'g', 'i');
    const [first, second] = [await call.next(), await call.next()];
    expect([first.body?.['text'], second.body?.['text']]).toEqual([
      expect.stringContaining('canceled'),
      expect.stringContaining('canceled'),
    ]);
    expect(clock.pending()).toBe(0);
  });

  test('the id of another call of the thread makes a separate call, with a warning', async () => {
    await using mock = await startMock(replying({ payload: '{{arguments.n}} {{count}}' }));
    const [a, b] = [await mock.invoke({ args: { n: 1 } }), await mock.invoke({ args: { n: 2 } })];
    expect([(await a.result()).body?.['text'], (await b.result()).body?.['text']]).toEqual(['1 1', '2 2']);
    expect(messages(mock)).toEqual(['another call of this thread has the same id']);
    expect(mock.tool.calls().map(({ key }) => key)).toEqual(['["g","i"]', '["g","i"]#2']);
  });

  test('the id of a call in another thread needs no warning (TOOL-ISOLATE)', async () => {
    await using mock = await startMock(replying({ payload: '{{group_id}}' }));
    const calls = [await mock.invoke({ groupId: 'g' }), await mock.invoke({ groupId: 'h' })];
    const texts = await Promise.all(calls.map(async call => (await call.result()).body?.['text']));
    expect([texts, messages(mock)]).toEqual([['g', 'h'], []]);
  });
});

describe('TOOL-MALFORMED', () => {
  test.each<[string, object, string]>([
    ['no operation', { operation: undefined }, '$.operation'],
    ['an operation of the wrong type', { operation: 7 }, '$.operation'],
    ['no arguments', { arguments: undefined }, '$.arguments'],
    ['arguments in a list', { arguments: [] }, '$.arguments'],
    ['an empty id', { id: '' }, '$.id'],
    ['no thread', { group_id: undefined }, '$.group_id'],
    ['an invalid call_id', { call_id: 7 }, '$.call_id'],
  ])('%s: 200, and an error result', async (_, fields, fault) => {
    const { receive, sent, events } = await intakeWith(replying({ payload: 'x' }));
    expect(await receive(fields)).toBe(200);
    await expect.poll(() => sent).toHaveLength(1);
    expect(sent[0]).toMatch(/^Error: the invocation is malformed: .*Correct it and call again\.$/);
    expect(sent[0]).toContain(fault);
    expect(events.find(({ kind }) => kind === 'matched')).toMatchObject({ fixture: null });
  });

  test('without a callback URL: logged only; rows 18 and 21', async () => {
    await using mock = await startMock(replying({ payload: 'x' }));
    const headers = { 'content-type': 'application/json' };
    for (const [body, status] of [
      ['{', 200],
      ['[]', 200],
      ['{"operation":"op"}', 200],
      ['{"operation":"op","callback_url":""}', 200],
      ['['.repeat(200) + ']'.repeat(200), 200],
      [Uint8Array.of(0x7b, 0xff, 0x7d), 400],
      [Uint8Array.of(0x22, 0xc0, 0xaf, 0x22), 400],
      [Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), 400],
    ] as const) {
      const url = `${mock.tool.url}/invoke`;
      const answer = await fetch(url, { method: 'POST', body: Buffer.from(body), headers });
      expect([body, answer.status, await answer.text()]).toEqual([body, status, '']);
      expect(mock.eventsOfKind('dropped').at(-1)).toMatchObject({
        ...{ what: 'invocation', count: 1, why: expect.stringContaining('malformed') },
      });
    }
    expect(mock.eventsOfKind('dropped')).toHaveLength(8);
    expect((await (await mock.invoke()).result()).body).toMatchObject({ text: 'x' });
  });
});

describe('unusual invocations', () => {
  test('TOOL-EXTRA: ignores unknown fields', async () => {
    await using mock = await startMock(replying({ payload: 'x' }));
    const call = await mock.invoke({ fields: { more: { deep: [1] }, type: 'x' } });
    expect((await call.result()).body).toMatchObject({ text: 'x' });
    expect(messages(mock)).toEqual([]);
  });

  test('row 20: warns of duplicate keys and of numbers that a double cannot represent', async () => {
    await using mock = await startMock(replying({ payload: '{{arguments.a}}' }));
    const { invocation } = await mock.invoke({ id: 'other', args: { a: 0 } });
    const body = JSON.stringify({ ...invocation, id: 'i' }).replace('"a":0', '"a":9007199254740993,"a":2');
    expect((await mock.post('/invoke', body)).status).toBe(200);
    await mock.tool.waitForDelivery('i');
    expect(messages(mock)).toEqual([
      'the invocation: the number 9007199254740993 cannot be held exactly',
      'the invocation: the key "a" occurs twice in one object; the last one is used',
    ]);
  });
});

describe('threats, "disk full": an invocation that cannot be stored is not acknowledged and may be sent again', () => {
  test('503, also for a repeat; nothing is executed until it is stored', async () => {
    const { log, receive, sent, events } = await intakeWith(replying({ payload: 'x' }));
    let isFull = true;
    const kept = async () => {
      if (isFull) throw new Error('the disk is full');
    };
    log.storeEventsIn({ take: () => {}, stored: kept });
    const statuses = await Promise.all([receive({}), receive({})]);
    expect([...statuses, await receive({})]).toEqual([503, 503, 503]);
    isFull = false;
    expect(await receive({})).toBe(200);
    await expect.poll(() => sent).toHaveLength(1);
    expect(events.filter(({ kind }) => kind === 'dropped')).toEqual([]);
  });
});

test('an invocation with another content type is logged with the reason of its refusal', async () => {
  await using mock = await startMock(replying({ payload: 'x' }));
  expect((await mock.post('/invoke', '{}', { 'content-type': 'text/plain' })).status).toBe(415);
  expect(mock.eventsOfKind('request')).toMatchObject([
    { purpose: 'invocation', url: '/invoke', headers: { 'content-type': 'text/plain' } },
  ]);
  expect(mock.eventsOfKind('response')).toMatchObject([
    { status: 415, refusal: expect.stringContaining('Content-Type') },
  ]);
});

test('row 15: a call beyond the limit is refused with a report and may be sent again', async () => {
  const openCalls = new OpenCalls({ calls: 1, bytes: 1024 });
  const { receive, events } = await intakeWith(replying({ payload: 'x', delay: '1h' }), { openCalls });
  expect([await receive({ id: 'a' }), await receive({ id: 'b' })]).toEqual([200, 503]);
  expect(events.filter(({ kind }) => kind === 'dropped')).toMatchObject([
    { what: 'invocation', why: 'too many open calls: 1', calls: ['["g","b"]'] },
  ]);
  expect(await receive({ id: 'b' })).toBe(503);
});

const faulty = (faults: object, reply: unknown = { payload: 'done' }) => replying(reply, { faults });

describe('TOOL-ACK, TOOL-ASYNC', () => {
  test('200 at once with an empty body; the work starts afterwards', async () => {
    await using mock = await startMock(replying({ payload: 'done' }));
    const call = await mock.invoke();
    expect([call.ack.status, call.ack.body]).toEqual([200, '']);
    expect((await call.result()).beforeAck).toBe(false);
    expect(mock.tool.calls()).toMatchObject([{ acknowledgement: { status: 200 } }]);
  });
});

describe('faults of the acknowledgement', () => {
  test('body: a 200 with a text, filled with the ids of the call; then the result', async () => {
    const body = '{"type":"tool_result","id":"{{id}}","text":"early"}';
    await using mock = await startMock(faulty({ ack: { body } }, { payload: 'done' }));
    const call = await mock.invoke();
    expect([call.ack.status, call.ack.body]).toEqual([200, body.replace('{{id}}', 'i')]);
    expect((await call.waitFor('tool_result')).body).toMatchObject({ id: 'i', text: 'done' });
    expect(mock.eventsOfKind('planned').map(({ plan }) => plan)).toEqual(['ack body']);
  });

  test('a status: not executed; the same invocation is a new attempt with a new draw', async () => {
    await using mock = await startMock(faulty({ ack: { status: 503, probability: 0.5 } }), { seed: 'c' });
    const statuses: unknown[] = [];
    const body = JSON.stringify((await mock.invoke({ operation: 'op' })).invocation);
    statuses.push(mock.runtime.calls[0]?.ack.status);
    while (statuses.at(-1) !== 200 && statuses.length < 50)
      statuses.push((await mock.invoke({ body })).ack.status);
    expect(statuses.at(-1)).toBe(200);
    await mock.tool.waitForDelivery('i');
    const [call] = mock.tool.calls();
    expect(call).toMatchObject({ arrivals: statuses.length, answeredBy: 'one' });
    expect(call?.deliveries).toHaveLength(1);
    expect(mock.eventsOfKind('matched')).toMatchObject([{ fixture: 'one', count: 1 }]);
    expect(mock.tool.verify()).toMatchObject({ ok: true, calls: 1 });
  });

  test('a refused call is not counted: its sequence begins when it is accepted', async () => {
    await using mock = await startMock(faulty({ ack: { status: 500 } }, { payload: '{{count}}' }));
    for (const _ of [1, 2]) expect((await mock.invoke()).ack.status).toBe(500);
    expect(mock.eventsOfKind('planned').map(({ plan }) => plan)).toEqual(['ack status', 'ack status']);
    expect(mock.eventsOfKind('matched')).toEqual([]);
  });

  test('a delay: the response waits, and the work waits for the response', async () => {
    const clock = watchedClock();
    await using mock = await startMock(faulty({ ack: { delay: '2s' } }), { clock });
    const pending = mock.invoke();
    expect(await clock.nextWait()).toBe(2_000);
    expect(mock.eventsOfKind('response').filter(({ calls }) => calls)).toEqual([]);
    clock.advance(2_000);
    const call = await pending;
    expect(call.ack.status).toBe(200);
    expect((await call.result()).beforeAck).toBe(false);
  });

  test('hang: no response, but the result is still sent', async () => {
    await using mock = await startMock(faulty({ ack: { hang: true } }));
    const call = await mock.invoke({ ackWithinMs: 100 });
    expect(call.ack.status).toBeNull();
    expect((await call.result()).body).toMatchObject({ text: 'done' });
  });

  test('reset: the connection breaks, but the result is still sent', async () => {
    await using mock = await startMock(faulty({ ack: { reset: true } }));
    const call = await mock.invoke();
    expect(call.ack).toMatchObject({ status: null, error: expect.stringMatching(/reset|hang up/i) });
    expect((await call.result()).body).toMatchObject({ text: 'done' });
    expect(mock.eventsOfKind('broken')).toMatchObject([{ phase: 'answer', code: 'PLANNED' }]);
    const again = await mock.invoke({ body: JSON.stringify(call.invocation) });
    expect(again.ack.status).toBe(200);
    expect(mock.tool.calls()).toMatchObject([{ arrivals: 2, deliveries: [{}] }]);
  });
});

describe('a callback before the acknowledgement', () => {
  test.each<[string, unknown]>([
    ['one', { payload: 'done' }],
    ['the first of several', [{ event: { text: 'first' } }, { payload: 'done' }]],
  ])('%s', async (_, reply) => {
    await using mock = await startMock(faulty({ callback: ['before-ack'] }, reply));
    const call = await mock.invoke();
    expect(call.ack.status).toBe(200);
    await call.result();
    expect(call.callbacks[0]?.beforeAck).toBe(true);
  });
});
