import { describe, expect, test } from 'vitest';
import { isDelivered } from '../../../src/events/tool-call.js';
import { replying, startMock, watchedClock } from '../start-mock.js';

describe('TOOL-ID, TOOL-CALLID, TOOL-OPAQUE', () => {
  test.each([
    ['given', 'call-7'],
    ['null', null],
  ])('a call_id that is %s is returned unchanged', async (_, callId) => {
    await using mock = await startMock(replying({ payload: 'x' }));
    const { raw } = await (await mock.invoke({ callId })).result();
    expect(raw).toBe(
      `{"type":"tool_result","group_id":"g","id":"i","call_id":${JSON.stringify(callId)},"text":"x"}`,
    );
  });

  test('the callback URL is used unchanged', async () => {
    await using mock = await startMock(replying({ payload: 'x' }));
    const call = await mock.invoke({ callbackPath: '/a%2Fb//c/?q=%20&r=' });
    expect((await call.result()).url).toBe('/a%2Fb//c/?q=%20&r=');
  });

  test('row 19: no input reaches a prototype', async () => {
    await using mock = await startMock(replying({ payload: { got: '{{arguments}}', id: '{{id}}' } }));
    const hostile =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"a":{"__proto__":{"polluted":1}}}';
    await (await mock.invoke({ id: '__proto__', groupId: '__proto__', args: JSON.parse(hostile) })).result();
    await (await mock.invoke({ id: 'constructor', groupId: '__proto__', args: {} })).result();
    expect(
      (await mock.post('/__mock__/reset', '{"__proto__":{"polluted":1},"key":"__proto__"}')).status,
    ).toBe(400); // no field of ours
    expect(Reflect.get(Object.prototype, 'polluted')).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe('TOOL-CANCEL', () => {
  const events = [
    { result: { text: 'on', subscription: true } },
    { event: { text: 'one' }, delay: '1s' },
    { event: { text: 'two' }, delay: '1s' },
  ];

  test('a waiting call ends at once with a result that says it was canceled', async () => {
    const clock = watchedClock();
    await using mock = await startMock(replying({ payload: 'x', delay: '1h' }), { clock });
    const call = await mock.invoke();
    await clock.nextWait();
    expect((await mock.runtime.cancel(mock.tool.url, 'g', 'i')).status).toBe(200);
    expect((await call.result()).body).toMatchObject({
      text: '{"canceled":{"reason":"the call was canceled","by":"user"}}',
    });
    expect(clock.pending()).toBe(0);
    expect(mock.tool.calls()).toMatchObject([{ isCancelled: true }]);
  });

  test.each([
    [
      'cancel',
      (url: string, runtime: Awaited<ReturnType<typeof startMock>>['runtime']) =>
        runtime.cancel(url, 'g', 'i'),
    ],
    [
      'close',
      (url: string, runtime: Awaited<ReturnType<typeof startMock>>['runtime']) =>
        runtime.closeThread(url, 'g'),
    ],
  ])('TOOL-SUB: no event after a %s', async (_, end) => {
    const clock = watchedClock();
    await using mock = await startMock(replying(events), { clock });
    const call = await mock.invoke();
    clock.advance(await clock.nextWait());
    await call.waitFor('subscription_event');
    await clock.nextWait();
    await end(mock.tool.url, mock.runtime);
    await mock.tool.close();
    expect(call.callbacks.map(({ body }) => body?.['text'])).toEqual(['on', 'one']);
    expect(mock.runtime.verdict()).toEqual([]);
  });

  test('TOOL-SUB: no delayed event after a cancel', async () => {
    const clock = watchedClock();
    const faults = { callback: [{ late: '5s' }] };
    await using mock = await startMock(replying(events, { faults }), { clock });
    const call = await mock.invoke();
    clock.advance(await clock.nextWait()); // the result
    await call.result();
    clock.advance(await clock.nextWait()); // the event's delay
    expect(await clock.nextWait()).toBe(5_000);
    await mock.runtime.cancel(mock.tool.url, 'g', 'i');
    await mock.tool.close();
    expect(call.callbacks).toHaveLength(1);
  });

  test('TOOL-SUB: no queued or retried event after a cancel', async () => {
    const clock = watchedClock();
    await using mock = await startMock(replying(events), { clock });
    const call = await mock.invoke({ answers: [200, 503] });
    await call.result();
    clock.advance(await clock.nextWait());
    await mock.until(event => event.kind === 'response' && event.status === 503);
    await clock.nextWait(); // before the next attempt
    await mock.runtime.cancel(mock.tool.url, 'g', 'i');
    clock.advance(60_000);
    expect(await mock.until(({ kind }) => kind === 'dropped')).toMatchObject({
      what: 'event',
      why: 'the call was canceled',
    });
    expect(call.callbacks.map(({ status }) => status)).toEqual([200, 503]);
    expect(mock.tool.verify().undelivered.count).toBe(0);
  });

  test('TOOL-ISOLATE: cancels only the given call', async () => {
    const clock = watchedClock();
    await using mock = await startMock(replying({ payload: 'x', delay: '1s' }), { clock });
    const calls = [];
    for (const [groupId, id] of [
      ['g', 'i'],
      ['g', 'j'],
      ['h', 'i'],
      ['["g","i"]', ''],
    ])
      if (id !== '') calls.push(await mock.invoke({ groupId, id }));
    await Promise.all(calls.map(() => clock.nextWait()));
    await mock.runtime.cancel(mock.tool.url, 'g', 'i');
    await calls[0]?.result();
    clock.advance(1_000);
    const texts = await Promise.all(calls.map(call => call.result()));
    expect(texts.map(({ body }) => body?.['text'])).toEqual([expect.stringContaining('canceled'), 'x', 'x']);
  });

  test('TOOL-CLOSE: cancels every call of the thread and resets its counts', async () => {
    const clock = watchedClock();
    const sequence = [{ payload: 'first' }, { payload: 'second', delay: '1h' }];
    const file = { fixtures: [{ match: { operation: 'op' }, sequence }] };
    await using mock = await startMock(file, { clock });
    await (await mock.invoke({ id: 'a' })).result();
    const second = await mock.invoke({ id: 'b' });
    await clock.nextWait();
    await mock.runtime.closeThread(mock.tool.url, 'g');
    expect((await second.result()).body).toMatchObject({
      text: '{"canceled":{"reason":"the thread was closed","by":"system"}}',
    });
    expect((await (await mock.invoke({ id: 'c' })).result()).body).toMatchObject({ text: 'first' });
  });
});

describe('questions', () => {
  const choice = (more: object = {}) => ({
    choice: { prompt: 'Sure?', choices: ['Yes', 'No'], default: 1 },
    // biome-ignore lint/suspicious/noThenProperty: the word of the file format
    then: { Yes: { payload: 'written' }, No: { error: { message: 'the user said no' } } },
    ...more,
  });
  const oauth = (more: object = {}) => ({
    oauth: { scopes: ['repo'] },
    granted: { payload: { issue: 7 } },
    refused: { error: { message: 'refused' } },
    ...more,
  });

  test('a choice counts only with the query of its URL', async () => {
    const { choice: asked, ...more } = choice();
    await using mock = await startMock(replying({ ...more, choice: { ...asked, query: 'a=%2F&b=1+2' } }));
    const call = await mock.invoke();
    const { body } = await call.waitFor('user_choice');
    const [path = '', query] = String(body?.['response_url']).slice(mock.tool.url.length).split('?');
    expect(query).toBe('a=%2F&b=1+2');
    for (const other of ['', '?a=/&b=1%202'])
      expect((await mock.post(path + other, { id: 'i', selected: 1 })).status).toBe(404);
    expect((await mock.runtime.choose(call, 0)).status).toBe(200);
    expect((await call.result()).body).toMatchObject({ text: 'written' });
    expect(mock.eventsOfKind('request').filter(({ purpose }) => purpose === 'choice')).toHaveLength(3);
  });

  test.each([
    [0, 'written'],
    [1, 'Error: the user said no'],
  ])('TOOL-CHOICE: selection %i plays its branch', async (selected, text) => {
    await using mock = await startMock(replying(choice()));
    const call = await mock.invoke();
    await call.waitFor('user_choice');
    expect((await mock.runtime.choose(call, selected)).status).toBe(200);
    expect((await call.result()).body).toMatchObject({ text });
    expect(mock.eventsOfKind('decided')).toMatchObject([{ what: 'choice', by: 'person', value: selected }]);
    expect(mock.runtime.verdict()).toEqual([]);
  });

  test.each([
    [
      'user_choice',
      choice({ within: '5m' }),
      'Error: "Sure?" was not answered in time; ask the user and call again',
    ],
    [
      'oauth',
      oauth({ within: '5m' }),
      'Error: authorization was not given in time; ask the user and call again',
    ],
  ])('TOOL-ALWAYS: %s that times out', async (type, reply, text) => {
    const clock = watchedClock();
    await using mock = await startMock(replying(reply), { clock });
    const call = await mock.invoke();
    await call.waitFor(type);
    expect(await clock.nextWait()).toBe(300_000);
    clock.advance(300_000);
    expect((await call.result()).body).toMatchObject({ text });
    expect(mock.eventsOfKind('expired')).toMatchObject([{ what: 'answer', afterMs: 300_000 }]);
    expect(clock.pending()).toBe(0);
  });

  test.each([
    ['user_choice', choice(), 'Error: the tool is stopping and "Sure?" was not answered; call again later'],
    ['oauth', oauth(), 'Error: the tool is stopping and authorization was not given; call again later'],
  ])('TOOL-ALWAYS: %s that is open when the tool stops', async (type, reply, text) => {
    await using mock = await startMock(replying(reply));
    const call = await mock.invoke();
    await call.waitFor(type);
    await mock.tool.waitForCall(({ deliveries }) => deliveries.some(isDelivered));
    await mock.tool.close({ drainMs: 5_000 });
    expect((await call.result()).body).toMatchObject({ text });
  });

  test.each([
    ['the default of a choice', choice(), 'user_choice', 'Error: the user said no', 1],
    ['a consent', oauth(), 'oauth', '{"issue":7}', 'granted'],
    [
      'a consent on a foreign page',
      oauth({ oauth: { auth_url: 'https://auth.example/?x=1' } }),
      'oauth',
      '{"issue":7}',
      'granted',
    ],
  ])('fire(): %s', async (_, reply, type, text, value) => {
    await using mock = await startMock(replying(reply));
    const call = await mock.invoke();
    await call.waitFor(type);
    expect([mock.tool.fire('no one'), mock.tool.fire('i'), mock.tool.fire()]).toEqual([0, 1, 0]);
    expect((await call.result()).body).toMatchObject({ text });
    expect(mock.eventsOfKind('decided')).toMatchObject([{ by: 'policy', value }]);
  });

  test('fire() skips an answered question and fires the next event on demand', async () => {
    const steps = [{ event: { text: 'now' }, on: 'demand' }, { payload: 'done' }];
    const { choice: asked } = choice();
    // biome-ignore lint/suspicious/noThenProperty: the word of the file format
    await using mock = await startMock(replying({ choice: asked, then: { Yes: steps, No: steps } }));
    const call = await mock.invoke();
    await call.waitFor('user_choice');
    await mock.runtime.choose(call, 0);
    await mock.until(({ kind }) => kind === 'decided');
    await expect.poll(() => mock.tool.fire()).toBe(1);
    await call.result();
    expect(call.callbacks.map(({ body }) => body?.['type'])).toEqual([
      'user_choice',
      'subscription_event',
      'tool_result',
    ]);
  });

  test('an event on demand logs when it starts and stops waiting', async () => {
    const event = (text: string) => ({ event: { text }, on: 'demand' });
    const reply = [{ result: { text: 'on', subscription: true } }, event('one'), event('two')];
    await using mock = await startMock(replying(reply));
    await mock.invoke();
    const isWaiting = () => mock.tool.calls()[0]?.awaits;
    await expect.poll(isWaiting).toBe('fire');
    mock.tool.fire('i');
    await expect.poll(() => mock.eventsOfKind('planned').length).toBe(2);
    expect(isWaiting()).toBe('fire');
    await mock.runtime.closeThread(mock.tool.url, 'g');
    const about = { what: 'event', type: 'subscription_event', calls: [expect.any(String)] };
    expect(mock.eventsOfKind('dropped')).toMatchObject([{ ...about, why: 'the thread was closed' }]);
    expect(isWaiting()).toBe(null);
  });
});
