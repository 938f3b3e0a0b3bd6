import { describe, expect, test } from 'vitest';
import { replying, type StartedMock, startMock, watchedClock } from './start-mock.js';

const ask = {
  choice: { prompt: 'Sure?', choices: ['Yes', 'No'] },
  // biome-ignore lint/suspicious/noThenProperty: the word of the file format
  then: { Yes: { payload: 'written' }, No: { payload: 'left' } },
};

const toolset = {
  name: 'moving',
  needsMigration: true,
  tools: [{ name: 'op', description: 'Does it', inputSchema: { type: 'object' } }],
};

const REQUESTS = ['discovery', 'choice', 'cancel', 'close', 'migrate'] as const;

const fixtures = { ...replying(ask), toolset };

/** The same fault for each of the requests. */
const each = (fault: object) => Object.fromEntries(REQUESTS.map(request => [request, fault]));

/** A call with an open question, and the requests that would end it. */
async function asking(mock: StartedMock, faults: object) {
  const call = await mock.invoke();
  await mock.tool.replaceFixtures({ version: 1, ...fixtures, faults });
  const { body } = await call.waitFor('user_choice');
  const path = String(body?.['response_url']).slice(mock.tool.url.length);
  const requests: Record<(typeof REQUESTS)[number], () => Promise<Response>> = {
    discovery: () => fetch(`${mock.tool.url}/.well-known/rap-toolset`),
    choice: () => mock.post(path, { id: 'i', selected: 0 }),
    cancel: () => mock.post('/cancel_tool_call', { thread_id: 'g', tool_call_id: 'i' }),
    close: () => mock.post('/close_thread', { thread_id: 'g' }),
    migrate: () => mock.post('/migrate', { session_id: 'g', destination_url: 'https://new.example/' }),
  };
  return { call, send: (name: (typeof REQUESTS)[number]) => requests[name]() };
}

const plansOf = (mock: StartedMock) => mock.eventsOfKind('planned').map(({ by, plan }) => `${by}: ${plan}`);

describe('faults of requests: a request with a fault is answered as planned, logged, and has no effect', () => {
  test.each<[string, object, number, string]>([
    ['status', { status: 500 }, 500, ''],
    ['status', { status: 200 }, 200, ''],
    ['body', { body: '<html>' }, 200, '<html>'],
  ])('%s: %j', async (kind, fault, status, body) => {
    await using mock = await startMock(fixtures);
    const { call, send } = await asking(mock, each(fault));
    for (const request of REQUESTS) {
      const answer = await send(request);
      expect([request, answer.status, await answer.text()]).toEqual([request, status, body]);
    }
    expect(plansOf(mock)).toEqual(REQUESTS.map(request => `fault: ${request} ${kind}`));
    expect(mock.tool.calls()).toMatchObject([
      { awaits: 'choice', plans: [`choice ${kind}`, `cancel ${kind}`] },
    ]);
    expect([call.callbacks.length, mock.eventsOfKind('decided')]).toEqual([1, []]);
  });

  test.each(['reset', 'hang'])('%s', async kind => {
    await using mock = await startMock(fixtures);
    const { call, send } = await asking(mock, each({ [kind]: true }));
    const answers = Promise.allSettled(REQUESTS.map(send));
    await Promise.all(
      REQUESTS.map(request =>
        mock.until(event => event.kind === 'planned' && event.plan === `${request} ${kind}`),
      ),
    );
    expect([call.callbacks.length, mock.eventsOfKind('decided')]).toEqual([1, []]);
    const broken = () => mock.eventsOfKind('broken').filter(({ code }) => code === 'PLANNED');
    expect(broken()).toHaveLength(kind === 'reset' ? REQUESTS.length : 0);
    await mock.tool.close();
    expect((await answers).map(each => each.status)).toEqual(REQUESTS.map(() => 'rejected'));
    expect(broken()).toHaveLength(REQUESTS.length);
  });

  test.each(REQUESTS)('delay: %s has its effect after the delay', async request => {
    const clock = watchedClock();
    await using mock = await startMock(fixtures, { clock });
    const { call, send } = await asking(mock, each({ delay: '2s' }));
    const answer = send(request);
    expect(await clock.nextWait()).toBe(2_000);
    expect([plansOf(mock), call.callbacks.length]).toEqual([[`fault: ${request} delay`], 1]);
    clock.advance(2_000);
    expect((await answer).status).toBe(200);
    if (request !== 'discovery')
      expect((await call.result()).body).toMatchObject({
        text: request === 'choice' ? 'written' : expect.stringContaining('canceled'),
      });
  });
});

test('a probability is drawn from the seed, for the n-th request of its kind', async () => {
  const statuses = async (seed: string) => {
    const fault = { status: 500, probability: 0.5 };
    await using mock = await startMock(
      { ...replying({ payload: 1 }), faults: { discovery: fault } },
      { seed },
    );
    const ask = async () => (await fetch(`${mock.tool.url}/.well-known/rap-toolset`)).status;
    const first = [];
    for (let n = 0; n < 12; n++) first.push(await ask());
    mock.tool.reset();
    expect(await ask()).toBe(first[0]);
    return first;
  };
  const drawn = await statuses('x');
  expect(new Set(drawn)).toEqual(new Set([200, 500]));
  expect(await statuses('x')).toEqual(drawn);
});

test('a number of times counts the requests of its kind', async () => {
  const faults = { discovery: { status: 503, times: 1 } };
  await using mock = await startMock({ ...replying({ payload: 1 }), faults });
  const ask = async () => (await fetch(`${mock.tool.url}/.well-known/rap-toolset`)).status;
  expect([await ask(), await ask(), await ask()]).toEqual([503, 200, 200]);
});

describe('the verification', () => {
  test('expects no result of a call whose answered choice does not count', async () => {
    await using mock = await startMock(fixtures);
    const { send } = await asking(mock, { choice: { status: 500 } });
    expect((await mock.tool.verified({ timeoutMs: 1 })).undelivered.count).toBe(1);
    await send('choice');
    expect(await mock.tool.verified()).toMatchObject({ ok: true, calls: 1 });
  });

  test('a runtime that answers again, since the first answer was refused, gets its result', async () => {
    await using mock = await startMock(fixtures, { seed: 'y' });
    const { call, send } = await asking(mock, { choice: { status: 503, probability: 0.5 } });
    const statuses: number[] = [];
    while (statuses.at(-1) !== 200) statuses.push((await send('choice')).status);
    expect(statuses.length).toBeGreaterThan(1);
    expect((await call.result()).body).toMatchObject({ text: 'written' });
    expect(await mock.tool.verified()).toMatchObject({ ok: true });
  });
});
