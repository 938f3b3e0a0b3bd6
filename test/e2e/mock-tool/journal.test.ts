import { randomUUID } from 'node:crypto';
import { appendFile, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { openSink } from '../../peers/callback-sink.mjs';
import { openRuntime, type PendingCall } from '../../peers/runtime.mjs';
import { eventually } from '../support/eventually.js';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { ask } from '../support/http.js';
import { type Mock, type MockHere, startMock, startMockHere } from '../support/mock.js';

/** `--journal`: what was acknowledged survives a kill; it is delivered after a restart, with the same ids and bytes. */
const FIXTURES = `
version: 1
fixtures:
  - { match: { operation: now }, reply: { payload: "{{uuid}} for {{arguments.n}} at {{now}}" } }
  - { match: { operation: soon }, reply: { delay: { min: 0, max: 800 }, payload: "{{arguments.n}}" } }
  - { match: { operation: late }, reply: { delay: 1500, payload: "late {{arguments.n}}" } }
  - match: { operation: count }
    sequence: [{ payload: "1" }, { payload: "2" }, { payload: "3" }]
  - match: { operation: timed }
    reply:
      - result: { text: on, subscription: true }
      - { event: { text: one } }
      - { delay: 1500, event: { text: two } }
      - { event: { text: three, final: true } }
  - match: { operation: demanded }
    reply:
      - result: { text: on, subscription: true }
      - { event: { text: one }, on: demand }
      - { event: { text: two, final: true }, on: demand }
  - match: { operation: views }
    reply:
      - view: { view_type: markdown, content: { text: a } }
      - { delay: 1500, view: { view_type: markdown, content: { text: b } } }
      - { payload: end }
  - match: { operation: twice }
    faults: { callback: [duplicate] }
    reply:
      - view: { view_type: markdown, content: { text: a } }
      - { delay: 1500, payload: end }
  - id: dropped
    match: { operation: dropped }
    faults: { callback: [{ drop: true, probability: 0.5 }] }
    reply:
      - view: { view_type: markdown, content: { text: a } }
      - view: { view_type: markdown, content: { text: b } }
      - view: { view_type: markdown, content: { text: c } }
      - { delay: 1500, view: { view_type: markdown, content: { text: d } } }
      - view: { view_type: markdown, content: { text: e } }
      - view: { view_type: markdown, content: { text: f } }
      - payload: end
  - match: { operation: asked }
    reply:
      choice: { prompt: "Which?", choices: [A, B] }
      then:
        A: [{ result: { text: on, subscription: true } }, { delay: 1500, event: { text: A } }]
        B: { payload: B }
`;

/** A process, to be killed. */
async function journalled(folder: Folder, port = 0, ...args: string[]): Promise<Mock> {
  return startMock([...(await lineFor(folder, port)), ...args], { cwd: folder.path });
}

/** One in this process, that may end in good order. */
async function journalledHere(folder: Folder, port = 0, ...args: string[]): Promise<MockHere> {
  return startMockHere([...(await lineFor(folder, port)), ...args], { cwd: folder.path });
}

async function lineFor(folder: Folder, port: number): Promise<string[]> {
  const fixtures = await folder.write('f.yaml', FIXTURES);
  return [fixtures, '--journal', folder.file('journal.ndjson'), '--port', String(port)];
}

const textsOf = (call: PendingCall) => new Set(call.callbacks.map(({ raw }) => raw));

it('SIGKILL during many calls, then a restart: no acknowledged call is lost, and repeats have the same bytes', async () => {
  await using folder = await temporaryFolder();
  await using runtime = await openRuntime();
  await using killed = await journalled(folder);
  const { endpoint } = await runtime.discover(killed.url);
  const invoking = Array.from({ length: 200 }, (_, n) =>
    runtime.invoke(
      killed.url,
      n % 2 === 0 ? 'soon' : 'now',
      { n },
      { endpoint, id: randomUUID(), groupId: `t${n % 20}` },
    ),
  );
  await eventually(
    'some are delivered',
    () => runtime.calls.filter(({ callbacks }) => callbacks.length > 0).length > 40,
  );
  await killed.stop('SIGKILL');
  const acknowledged = (await Promise.all(invoking)).filter(({ ack }) => ack.status === 200);
  expect(acknowledged.length).toBeGreaterThan(40);
  expect(acknowledged.some(({ callbacks }) => callbacks.length === 0)).toBe(true);

  await using mock = await journalledHere(folder, killed.port);
  await Promise.all(acknowledged.map(call => call.result()));
  await mock.stop();
  for (const call of acknowledged) {
    const { id, group_id, callback_url } = call.invocation;
    expect(textsOf(call).size).toBe(1);
    expect(call.callbacks[0]?.body).toMatchObject({ id, group_id });
    expect(call.callbacks[0]?.url).toBe(new URL(callback_url).pathname + new URL(callback_url).search);
  }
});

/** Its bytes as the runtime got them, one callback after the other. */
const rawOf = ({ callbacks }: PendingCall) => callbacks.map(({ raw }) => raw);

/** Until the journal knows that so many callbacks were taken: what it does not know is sent again. */
const journalKnows = (folder: Folder, callbacks: number) =>
  eventually(`${callbacks} callbacks in the journal`, async () => {
    const text = await readFile(folder.file('journal.ndjson'), 'utf8');
    return (text.match(/^{"kind":"response".*"calls":\[/gm) ?? []).length > callbacks;
  });

/** How many callbacks a reply has before the kill, and in all. */
const REPLIES = {
  before: { timed: 2, demanded: 2, views: 1, twice: 2, dropped: 2, asked: 2 },
  all: { timed: 4, demanded: 3, views: 3, twice: 4, dropped: 5, asked: 3 },
};
/** How many calls waited for a trigger. */
async function fire(url: string, ids: object): Promise<number> {
  const { body } = await ask(`${url}/__mock__/fire`, { body: JSON.stringify(ids) });
  return JSON.parse(body).fired;
}
const sum = (counts: Readonly<Record<string, number>>) =>
  Object.values(counts).reduce((one, other) => one + other);

it('killed during replies: the next run sends the rest of each', async () => {
  await using folder = await temporaryFolder();
  await using other = await temporaryFolder();
  await using runtime = await openRuntime();
  const invokeAll = async ({ url }: Pick<Mock, 'url'>) => {
    const invoke = (operation: string) => runtime.invoke(url, operation, {}, { id: 'i', groupId: operation });
    return Promise.all(Object.keys(REPLIES.all).map(invoke));
  };
  const goOn = (
    calls: readonly PendingCall[],
    { url }: Pick<Mock, 'url'>,
    counts: Readonly<Record<string, number>>,
  ) =>
    Promise.all(
      calls.map(({ invocation: { operation, group_id }, callbacks }) => {
        const count = counts[operation] ?? 0;
        let toFire = count - Math.max(callbacks.length, 1); // each trigger brings one callback; the first comes without
        return eventually(`callback ${count} of ${operation}`, async () => {
          if (callbacks.length >= count) return true;
          if (toFire > 0) toFire -= await fire(url, { id: 'i', group_id });
          return false;
        });
      }),
    );
  const countsIn = (calls: readonly PendingCall[]) =>
    Object.fromEntries(calls.map(({ invocation, callbacks }) => [invocation.operation, callbacks.length]));
  await using unkilled = await journalledHere(other, 0, '--seed', 's25');
  const whole = await invokeAll(unkilled);
  const untilWhole = goOn(whole, unkilled, REPLIES.all);

  await using killed = await journalled(folder, 0, '--seed', 's25');
  const calls = await invokeAll(killed);
  await goOn(calls, killed, REPLIES.before);
  await journalKnows(folder, sum(REPLIES.before) + calls.length - 1);
  await killed.stop('SIGKILL');
  expect(countsIn(calls)).toEqual(REPLIES.before);
  await using mock = await journalledHere(folder, 0, '--seed', 's25');
  await goOn(calls, mock, REPLIES.all);
  await eventually('all are delivered', async () =>
    (await mock.journal()).calls.every(({ state }) => state === 'delivered'),
  );
  await mock.stop();
  await untilWhole;
  await unkilled.stop();
  const saidIn = (call: PendingCall) => rawOf(call).map(raw => raw.replaceAll(/:\d+\/choices?\/[^"]*/g, ''));
  expect(calls.map(saidIn)).toEqual(whole.map(saidIn));

  await using third = await journalledHere(folder);
  expect((await third.stop()).stderr).not.toContain('resumed from the journal');
  expect(countsIn(calls)).toEqual(REPLIES.all);
});

it('TOOL-CLOSE: killed after its thread was closed, a subscription does not go on', async () => {
  await using folder = await temporaryFolder();
  await using runtime = await openRuntime();
  await using killed = await journalled(folder);
  const subscribed = await runtime.invoke(killed.url, 'demanded', {}, { groupId: 'g' });
  await subscribed.result();
  await journalKnows(folder, 1);
  expect((await runtime.closeThread(killed.url, 'g')).status).toBe(200);
  await killed.stop('SIGKILL');
  await using mock = await journalledHere(folder);
  expect((await mock.stop()).stderr).not.toContain('resumed from the journal');
});

describe.concurrent('after a restart', () => {
  it('pending replies and sequences go on, and repeats are recognized; row 27: a torn last line is dropped with a warning', async () => {
    await using folder = await temporaryFolder();
    await using runtime = await openRuntime();
    await using killed = await journalled(folder);
    const { endpoint } = await runtime.discover(killed.url);
    const count = async (base: string) => {
      const call = await runtime.invoke(base, 'count', {}, { groupId: 't' });
      return (await call.result()).body?.['text'];
    };
    expect(await count(killed.url)).toBe('1');
    const late = await runtime.invoke(killed.url, 'late', { n: 7 });
    await killed.stop('SIGKILL');
    expect(late.callbacks).toEqual([]);
    await appendFile(folder.file('journal.ndjson'), '{"kind":"request","at":12,"le');
    await using mock = await journalledHere(folder, killed.port);
    await mock.says(/^calls resumed from the journal: \d$/m);
    await mock.says(/the last line of .*journal\.ndjson was incomplete and was removed/);
    expect((await late.result()).body).toMatchObject({ text: 'late 7', id: late.invocation.id });
    const [first] = runtime.calls;
    const again = JSON.stringify(first?.invocation);
    expect((await runtime.invoke(mock.url, 'count', {}, { endpoint, body: again })).ack.status).toBe(200);
    expect(await count(mock.url)).toBe('2');
    expect(first && textsOf(first).size).toBe(1); // a second delivery, where the kill came before its answer was kept
    await mock.stop();
    for (const line of (await readFile(folder.file('journal.ndjson'), 'utf8')).trim().split('\n'))
      expect(() => JSON.parse(line)).not.toThrow();
  });

  it('delivered callbacks are not delivered again, and a reset stays a reset', async () => {
    await using folder = await temporaryFolder();
    await using runtime = await openRuntime();
    await using stopped = await journalledHere(folder);
    const count = async (base: string) => runtime.invoke(base, 'count', {}, { groupId: 't' });
    const call = await count(stopped.url);
    await call.result();
    await fetch(`${stopped.url}/__mock__/reset`, { method: 'POST' });
    await stopped.stop('SIGTERM');
    await using mock = await journalledHere(folder);
    expect((await (await count(mock.url)).result()).body).toMatchObject({ text: '1' });
    await mock.stop();
    expect(mock.said()).not.toContain('resumed from the journal');
    expect(call.callbacks).toHaveLength(1);
  });

  it('callbacks not delivered within --drain are delivered by the next run', async () => {
    await using folder = await temporaryFolder();
    await using runtime = await openRuntime();
    await using sink = await openSink('hang', 200);
    await using stopped = await journalledHere(folder, 0, '--drain', '0');
    await runtime.invoke(stopped.url, 'now', { n: 1 }, { callbackUrl: sink.url });
    await eventually('the first attempt', () => sink.requests[0]?.raw);
    expect((await stopped.stop()).stderr).toMatch(
      /not delivered: the tool was stopped before it was delivered/,
    );
    await using mock = await journalledHere(folder);
    await mock.says(/^calls resumed from the journal: 1$/m);
    await eventually('the second attempt', () => sink.requests[1]?.raw);
    expect(sink.requests[1]?.raw).toBe(sink.requests[0]?.raw);
  });
});
