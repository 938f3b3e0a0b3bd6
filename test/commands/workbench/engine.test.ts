import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { llmTextOf } from '../../../src/events/exchange.js';
import { eventually } from '../../e2e/support/eventually.js';
import { fieldOf, type Peer, startPeer } from '../../e2e/support/peers.js';
import { startServing } from '../../support/serving.js';
import { type Bench, startBench } from './bench.js';

let plain: Peer;
let stdlib: Peer;
beforeAll(async () => {
  [plain, stdlib] = await Promise.all([startPeer('plain'), startPeer('stdlib')]);
});
afterAll(async () => {
  await Promise.all([plain.stop(), stdlib.stop()]);
});

const openOf = async (bench: Bench, url: string) => {
  const id = bench.open({ kind: 'url', url });
  await bench.stands(id, 'ready');
  return id;
};

describe('a call', () => {
  test('is made and settled; the events are in the book', async () => {
    await using bench = startBench();
    const id = await openOf(bench, plain.url);
    const key = await bench.call(id, 'echo', { text: 'hi' });
    expect(llmTextOf(await bench.until(key))).toBe('hi');
    expect(bench.world.volumes[0]?.book.keys).toEqual([key]);
  });

  test('RT-ARGS: against the inputSchema is not sent, and says where', async () => {
    await using bench = startBench();
    const server = await openOf(bench, plain.url);
    const draft = { server, operation: 'echo', arguments: { text: 7 } };
    expect(await bench.controls.run(draft, { validates: true })).toEqual({
      kind: 'invalid',
      faults: [{ path: '$.text', message: 'must be string (type)' }],
    });
    expect(bench.world.volumes[0]?.book.keys).toEqual([]);
    expect(await bench.controls.run(draft, { validates: false })).toMatchObject({ kind: 'sent' });
    const unvalidated = bench.world.volumes[0]?.book.keys[0] ?? '';
    const checked = await bench.call(server, 'echo', { text: 'a' });
    expect([unvalidated, checked].map(bench.world.isUnvalidated)).toEqual([true, false]);
    expect((await bench.controls.asCommand(unvalidated, 0)).text).toContain('invoke --no-validate http');
    expect((await bench.controls.asCommand(checked, 0)).text).not.toContain('--no-validate');
  });

  test('RT-OP: of what the toolset does not have is refused', async () => {
    await using bench = startBench();
    const server = await openOf(bench, plain.url);
    const draft = { server, operation: 'nothing', arguments: {} };
    expect(await bench.controls.run(draft, { validates: true })).toEqual({
      kind: 'refused',
      reason: 'its toolset has no operation "nothing"',
    });
  });

  test('RT-CHOICE: what it asks is answered by the person, once', async () => {
    await using bench = startBench();
    const key = await bench.call(await openOf(bench, stdlib.url), 'ask');
    const { questions } = await bench.until(key, exchange => exchange.questions.length > 0);
    const leg = questions[0]?.leg ?? '';
    expect(bench.controls.answer(key, leg, 99)).toMatchObject({ isBad: true });
    expect(bench.controls.answer(key, 'no leg', 0)).toMatchObject({ isBad: true });
    expect(bench.controls.answer(key, leg, 1)).toBeNull();
    const exchange = await bench.until(key);
    expect(llmTextOf(exchange)).toBe('Chosen: production');
    expect(exchange.selections).toMatchObject([{ by: 'person', selected: 1 }]);
    expect(bench.controls.answer(key, leg, 1)).toMatchObject({ isBad: true });
  });

  test('is cancelled, and the tool is notified', async () => {
    await using bench = startBench();
    const key = await bench.call(await openOf(bench, stdlib.url), 'work', { ms: 60_000 });
    expect(await bench.controls.cancel(key)).toEqual({
      text: 'canceled, and the tool was notified',
      isBad: false,
    });
    expect((await bench.until(key)).settled).toMatchObject({ by: 'cancel', who: 'person' });
    expect(await bench.controls.cancel(key)).toMatchObject({ isBad: true });
  });

  test('RT-SUB: events of a subscription keep coming, until it is canceled', async () => {
    await using bench = startBench();
    const id = await openOf(bench, plain.url);
    const key = await bench.call(id, 'watch', { events: 1_000, every_ms: 5 });
    await bench.until(key, ({ subscription }) => (subscription?.events ?? 0) > 2);
    expect(await bench.controls.cancel(key)).toMatchObject({ isBad: false });
    expect((await bench.until(key)).subscription).toMatchObject({ ended: { by: 'cancel', who: 'person' } });
  });
});

describe('anyone who quits while a call is being prepared', () => {
  const REFUSED = { kind: 'refused', reason: 'the workbench is being closed' };
  const listening = () => process.getActiveResourcesInfo().filter(name => name === 'TCPServerWrap').length;

  test('sends nothing, then or later, and leaves no listener', async () => {
    const before = listening();
    const bench = startBench();
    const server = await openOf(bench, plain.url);
    const purposes: string[] = [];
    bench.log.subscribe(event => event.kind === 'request' && purposes.push(event.purpose));
    const draft = { server, operation: 'echo', arguments: { text: 'late' } };
    const running = bench.controls.run(draft, { validates: true });
    await bench.close();
    expect(await running).toEqual(REFUSED);
    expect(await bench.controls.run(draft, { validates: false })).toEqual(REFUSED);
    expect(purposes).toEqual([]);
    await eventually('nothing listens', () => listening() <= before);
  });
});

test('where the listener cannot be opened while one quits, all else is stopped', async () => {
  await using taken = await startServing(200, response => response.end());
  const port = Number(new URL(taken.url).port);
  const bench = startBench({ callbackPort: port });
  const server = bench.open({ kind: 'demo' });
  const { base } = await bench.stands(server, 'ready');
  const draft = { server, operation: 'edit_file', arguments: {} };
  const running = bench.controls.run(draft, { validates: false });
  await bench.close();
  expect(await running).toMatchObject({ kind: 'refused' });
  await expect(fetch(base)).rejects.toThrow();
});

test('at the end what is under way is cancelled, and each thread of ours closed, at every server', async () => {
  const bench = startBench();
  const [one, other] = await Promise.all([openOf(bench, plain.url), openOf(bench, stdlib.url)]);
  const done = await bench.call(one, 'echo', { text: 'a' });
  await bench.until(done);
  const named = startBench({ groupId: 'thread_of_mine' });
  await named.until(await named.call(await openOf(named, plain.url), 'echo', { text: 'a' }));
  await named.close();
  const pending = await bench.call(other, 'work', { ms: 60_000 });
  const { exchanges } = bench.world.volumes[0]?.book.history ?? { exchanges: new Map() };
  const threads = [done, pending].map(key => exchanges.get(key)?.invocation.group_id);
  await bench.close();
  expect((await bench.until(pending)).settled).toMatchObject({ by: 'cancel', who: 'person' });
  for (const peer of [plain, stdlib]) {
    const closed = await eventually('the notices', async () => {
      const log = await peer.log();
      return log.some(({ what }) => what === 'close_thread') && log;
    });
    const told = closed
      .filter(({ what }) => what === 'close_thread')
      .map(entry => fieldOf(entry, 'thread_id'));
    for (const thread of threads) expect(told).toContain(thread);
    expect(told).not.toContain('thread_of_mine');
  }
});
