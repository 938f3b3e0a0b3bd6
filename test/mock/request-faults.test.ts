import { describe, expect, test } from 'vitest';
import { replying, type Stage, stageWith, watchedClock } from './stage.js';

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
async function asking(stage: Stage, faults: object) {
  const call = await stage.invoke();
  await stage.tool.replaceFixtures({ version: 1, ...fixtures, faults });
  const { body } = await call.waitFor('user_choice');
  const path = String(body?.['response_url']).slice(stage.tool.url.length);
  const requests: Record<(typeof REQUESTS)[number], () => Promise<Response>> = {
    discovery: () => fetch(`${stage.tool.url}/.well-known/rap-toolset`),
    choice: () => stage.post(path, { id: 'i', selected: 0 }),
    cancel: () => stage.post('/cancel_tool_call', { thread_id: 'g', tool_call_id: 'i' }),
    close: () => stage.post('/close_thread', { thread_id: 'g' }),
    migrate: () => stage.post('/migrate', { session_id: 'g', destination_url: 'https://new.example/' }),
  };
  return { call, send: (name: (typeof REQUESTS)[number]) => requests[name]() };
}

const plansOf = (stage: Stage) => stage.told('planned').map(({ by, plan }) => `${by}: ${plan}`);

describe('faults of requests: a request with a fault is answered as planned, logged, and has no effect', () => {
  test.each<[string, object, number, string]>([
    ['status', { status: 500 }, 500, ''],
    ['status', { status: 200 }, 200, ''],
    ['body', { body: '<html>' }, 200, '<html>'],
  ])('%s: %j', async (kind, fault, status, body) => {
    await using stage = await stageWith(fixtures);
    const { call, send } = await asking(stage, each(fault));
    for (const request of REQUESTS) {
      const answer = await send(request);
      expect([request, answer.status, await answer.text()]).toEqual([request, status, body]);
    }
    expect(plansOf(stage)).toEqual(REQUESTS.map(request => `fault: ${request} ${kind}`));
    expect(stage.tool.calls()).toMatchObject([
      { awaits: 'choice', plans: [`choice ${kind}`, `cancel ${kind}`] },
    ]);
    expect([call.callbacks.length, stage.told('decided')]).toEqual([1, []]);
  });

  test.each(['reset', 'hang'])('%s', async kind => {
    await using stage = await stageWith(fixtures);
    const { call, send } = await asking(stage, each({ [kind]: true }));
    const answers = Promise.allSettled(REQUESTS.map(send));
    await Promise.all(
      REQUESTS.map(request =>
        stage.until(event => event.kind === 'planned' && event.plan === `${request} ${kind}`),
      ),
    );
    expect([call.callbacks.length, stage.told('decided')]).toEqual([1, []]);
    const broken = () => stage.told('broken').filter(({ code }) => code === 'PLANNED');
    expect(broken()).toHaveLength(kind === 'reset' ? REQUESTS.length : 0);
    await stage.tool.close();
    expect((await answers).map(each => each.status)).toEqual(REQUESTS.map(() => 'rejected'));
    expect(broken()).toHaveLength(REQUESTS.length);
  });

  test.each(REQUESTS)('delay: %s has its effect after the delay', async request => {
    const clock = watchedClock();
    await using stage = await stageWith(fixtures, { clock });
    const { call, send } = await asking(stage, each({ delay: '2s' }));
    const answer = send(request);
    expect(await clock.nextWait()).toBe(2_000);
    expect([plansOf(stage), call.callbacks.length]).toEqual([[`fault: ${request} delay`], 1]);
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
    await using stage = await stageWith(
      { ...replying({ payload: 1 }), faults: { discovery: fault } },
      { seed },
    );
    const ask = async () => (await fetch(`${stage.tool.url}/.well-known/rap-toolset`)).status;
    const first = [];
    for (let n = 0; n < 12; n++) first.push(await ask());
    stage.tool.reset();
    expect(await ask()).toBe(first[0]);
    return first;
  };
  const drawn = await statuses('x');
  expect(new Set(drawn)).toEqual(new Set([200, 500]));
  expect(await statuses('x')).toEqual(drawn);
});

describe('the verification', () => {
  test('expects no result of a call whose answered choice does not count', async () => {
    await using stage = await stageWith(fixtures);
    const { send } = await asking(stage, { choice: { status: 500 } });
    expect((await stage.tool.verified({ timeoutMs: 1 })).undelivered.count).toBe(1);
    await send('choice');
    expect(await stage.tool.verified()).toMatchObject({ ok: true, calls: 1 });
  });

  test('a runtime that answers again, since the first answer was refused, gets its result', async () => {
    await using stage = await stageWith(fixtures, { seed: 'y' });
    const { call, send } = await asking(stage, { choice: { status: 503, probability: 0.5 } });
    const statuses: number[] = [];
    while (statuses.at(-1) !== 200) statuses.push((await send('choice')).status);
    expect(statuses.length).toBeGreaterThan(1);
    expect((await call.result()).body).toMatchObject({ text: 'written' });
    expect(await stage.tool.verified()).toMatchObject({ ok: true });
  });
});
