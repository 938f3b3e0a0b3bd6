import { describe, expect, test } from 'vitest';
import { replying, replyingEach, startMock, watchedClock } from '../start-mock.js';

const args = { n: 7, list: ['x'], gone: undefined };
const ids = '"group_id":"g","id":"i"';
const result = (text: string) => `{"type":"tool_result",${ids},"text":${JSON.stringify(text)}}`;

const ANSWERS: readonly (readonly [reply: unknown, message: string])[] = [
  [{ payload: 'done' }, result('done')],
  [{ payload: { n: [1, null, 'é'] } }, result('{"n":[1,null,"é"]}')],
  [{ payload: null }, result('null')],
  [{ payload: false }, result('false')],
  [
    { result: { text: 'as it is\u0007', more: [1] } },
    `{"type":"tool_result",${ids},"text":"as it is\\u0007","more":[1]}`,
  ],
  [{ error: { message: 'no disk', code: 'E', type: 'T' } }, result('Error: no disk')],
  [{ canceled: { reason: 'late', by: 'policy' } }, result('{"canceled":{"reason":"late","by":"policy"}}')],
  [{ timeout: { durationMs: 30000 } }, result('{"timeout":{"durationMs":30000}}')],
  [{ denied: { tool: 'rm', reason: 'no' } }, result('{"denied":{"tool":"rm","reason":"no"}}')],
  // texts stay texts
  [{ error: { message: '{{arguments.n}}' } }, result('Error: 7')],
  [{ error: { message: '{{arguments.list}}' } }, result('Error: ["x"]')],
  [{ error: { message: '{{arguments.none}}' } }, result('Error: ')],
  [{ denied: { tool: '{{arguments.n}}' } }, result('{"denied":{"tool":"7"}}')],
  [{ payload: ['{{arguments.n}}'] }, result('[7]')],
];

describe('TOOL-POST, TOOL-GROUP, TOOL-ID: every kind of step, byte for byte', () => {
  test('answers', async () => {
    await using mock = await startMock(replyingEach(ANSWERS.map(([reply]) => reply)));
    for (const [n, [, message]] of ANSWERS.entries()) {
      const call = await mock.invoke({ operation: `op${n}`, args });
      const { raw, headers, method } = await call.result();
      expect([method, headers['content-type'], raw]).toEqual(['POST', 'application/json', message]);
    }
  });

  test('view: before and after become a patch; templates in its content are filled', async () => {
    const content = { path: '{{arguments.path}}', before: 'a\n', after: 'b\n' };
    await using mock = await startMock(
      replying([{ view: { view_type: 'diff', content } }, { payload: 'done' }]),
    );
    const call = await mock.invoke({ args: { path: 'a.txt' } });
    await call.result();
    const [view] = call.callbacks;
    expect(view?.raw).toMatch(/^{"type":"view_update","group_id":"g","view_type":"diff","content":{/);
    expect(view?.body?.['content']).toEqual({
      path: 'a.txt',
      patch: expect.stringContaining('@@ -1,1 +1,1 @@\n-a\n+b\n'),
    });
  });

  test('TOOL-SUB: events after the result contain the call id; their other fields are unchanged', async () => {
    const events = [
      { result: { text: 'Subscription {{id}}', subscription: true } },
      { event: { text: 'one', level: 3 } },
      { event: { text: 'two', associative: true, final: true } },
    ];
    await using mock = await startMock(replying(events));
    const call = await mock.invoke();
    await call.waitFor(({ body }) => body?.['final'] === true);
    expect(call.callbacks.map(({ raw }) => raw)).toEqual([
      `{"type":"tool_result",${ids},"text":"Subscription i","subscription":true}`,
      '{"type":"subscription_event","group_id":"g","tool_call_id":"i","text":"one","level":3}',
      '{"type":"subscription_event","group_id":"g","tool_call_id":"i","text":"two","associative":true,"final":true}',
    ]);
    expect(mock.runtime.verdict()).toEqual([]);
  });

  test('TOOL-CHOICE: sends the question', async () => {
    const choice = { prompt: 'Write to {{arguments.path}}?', choices: ['Yes', 'No'], default: 1 };
    // biome-ignore lint/suspicious/noThenProperty: the word of the file format
    const step = { choice, then: { Yes: { payload: 'y' }, No: { payload: 'n' } } };
    await using mock = await startMock(replying(step));
    const { raw, body } = await (await mock.invoke({ args: { path: '/etc' } })).waitFor('user_choice');
    const url = String(body?.['response_url']);
    expect(raw).toBe(
      `{"type":"user_choice",${ids},"prompt":"Write to /etc?","choices":["Yes","No"],"default":1,"response_url":"${url}"}`,
    );
    expect(url).toMatch(new RegExp(`^${mock.tool.url}/choices/[\\w-]{43}$`));
  });

  test('TOOL-OAUTH: sends the question; http on loopback', async () => {
    await using mock = await startMock(
      replying({ oauth: { scopes: ['repo'] }, granted: { payload: 'y' }, refused: { payload: 'n' } }),
    );
    const { raw, body } = await (await mock.invoke()).waitFor('oauth');
    expect(raw).toBe(`{"type":"oauth",${ids},"auth_url":"${body?.['auth_url']}"}`);
    expect(body?.['auth_url']).toMatch(new RegExp(`^${mock.tool.url}/authorize\\?state=[\\w-]{43}$`));
  });

  test('silence: sends nothing, as planned', async () => {
    await using mock = await startMock(replying({ silence: true }));
    const call = await mock.invoke();
    await mock.until(({ kind }) => kind === 'planned');
    expect(mock.tool.calls()).toMatchObject([{ isSilent: true, plans: ['silence'], deliveries: [] }]);
    await mock.tool.close();
    expect(call.callbacks).toEqual([]);
  });
});

test('an event and a question stay valid (TOOL-POST)', async () => {
  const choice = { prompt: '{{arguments.n}}', choices: ['{{arguments.n}}'] };
  // biome-ignore lint/suspicious/noThenProperty: the word of the file format
  const ask = { choice, then: { '{{arguments.n}}': { payload: 'picked {{arguments.n}}' } } };
  await using mock = await startMock(replying([{ event: { text: '{{arguments.n}}' } }, ask]));
  const call = await mock.invoke({ args });
  expect((await call.waitFor('subscription_event')).body).toMatchObject({ text: '7' });
  expect((await call.waitFor('user_choice')).body).toMatchObject({ prompt: '7', choices: ['7'] });
  await mock.runtime.choose(call, 0);
  expect((await call.result()).body).toMatchObject({ text: 'picked 7' });
});

describe('steps', () => {
  test('waits for the delay before a step; a range is drawn from the seed', async () => {
    const clock = watchedClock();
    const reply = [
      { event: { text: 'one' }, delay: '2s' },
      { payload: 'done', delay: { min: 10, max: 1_000 } },
    ];
    await using mock = await startMock(replying(reply), { clock, seed: 's' });
    const call = await mock.invoke();
    expect(await clock.nextWait()).toBe(2_000);
    clock.advance(1_999);
    expect(call.callbacks).toEqual([]);
    clock.advance(1);
    const drawn = await clock.nextWait();
    expect(drawn).toBeGreaterThanOrEqual(10);
    clock.advance(drawn);
    await call.result();
    expect(call.callbacks.map(({ body }) => body?.['text'])).toEqual(['one', 'done']);

    await using again = await startMock(replying(reply), { clock, seed: 's' });
    await again.invoke();
    clock.advance(await clock.nextWait());
    expect(await clock.nextWait()).toBe(drawn);
  });
});

describe.concurrent('faults on the wire', () => {
  const faulty = (...callback: unknown[]) => replying({ payload: 'done' }, { faults: { callback } });

  test('duplicate: sends the same bytes twice', async () => {
    await using mock = await startMock(faulty('duplicate'));
    const call = await mock.invoke();
    const [first, second] = [await call.next(), await call.next()];
    expect(second.raw).toBe(first.raw);
    expect(mock.runtime.verdict()).toEqual([]);
  });

  test.each(['wrong-id', 'wrong-group', 'malformed', 'wrong-type'])(
    '%s: the runtime receives it',
    async fault => {
      await using mock = await startMock(faulty(fault));
      const call = await mock.invoke();
      await call.next();
      expect(call.faults.map(({ id }) => id)).not.toEqual([]);
      expect(mock.eventsOfKind('planned')).toMatchObject([{ by: 'fault', plan: fault }]);
    },
  );

  test('drop: sends nothing and logs it', async () => {
    await using mock = await startMock(faulty('drop'));
    const call = await mock.invoke();
    expect(await mock.tool.verified()).toMatchObject({ ok: true, calls: 1 });
    expect([call.callbacks, mock.eventsOfKind('planned')]).toMatchObject([[], [{ plan: 'drop' }]]);
    expect(mock.eventsOfKind('request').filter(({ purpose }) => purpose === 'callback')).toEqual([]);
  });

  test('late: waits', async () => {
    const clock = watchedClock();
    await using mock = await startMock(faulty({ late: '3s' }), { clock });
    const call = await mock.invoke();
    expect(await clock.nextWait()).toBe(3_000);
    clock.advance(2_999);
    expect(call.callbacks).toEqual([]);
    clock.advance(1);
    await call.result();
  });

  test('late: several delays add up', async () => {
    const clock = watchedClock();
    await using mock = await startMock(faulty({ late: '300ms' }, { late: '500ms', probability: 1 }), {
      clock,
    });
    await mock.invoke();
    expect(await clock.nextWait()).toBe(800);
  });

  test('each callback draws its own fault from the seed', async () => {
    const reply = [
      ...Array.from({ length: 20 }, (_, n) => ({ event: { text: `${n}` } })),
      { payload: 'done' },
    ];
    const plans = async () => {
      const faults = { callback: [{ duplicate: true, probability: 0.5 }] };
      await using mock = await startMock(replying(reply, { faults }), { seed: 'x' });
      await mock.invoke();
      return (await mock.tool.waitForDelivery('i')).deliveries.map(({ body }) => body?.sha256);
    };
    const first = await plans();
    expect(first.length).toBeGreaterThan(21);
    expect(first.length).toBeLessThan(42);
    expect(await plans()).toEqual(first);
  });
});
