import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event } from '../../../src/events/events.js';
import { llmTextOf } from '../../../src/events/exchange.js';
import { eventually } from '../../e2e/support/eventually.js';
import { temporaryFolder } from '../../e2e/support/folder.js';
import { fieldOf, type Peer, startPeer } from '../../e2e/support/peers.js';
import { startServing } from '../../support/serving.js';
import { openWorkbench, startEngine } from './start-engine.js';

let plain: Peer;
let stdlib: Peer;
beforeAll(async () => {
  [plain, stdlib] = await Promise.all([startPeer('plain'), startPeer('stdlib')]);
});
afterAll(async () => {
  await Promise.all([plain.stop(), stdlib.stop()]);
});

describe('a call', () => {
  test('is sent and settled; its events are in the log', async () => {
    await using engine = startEngine();
    const id = await engine.ready(plain.url);
    const key = await engine.call(id, 'echo', { text: 'hi' });
    expect(llmTextOf(await engine.until(key))).toBe('hi');
    expect(engine.model.sources[0]?.callLog.keys).toEqual([key]);
    // RT-OP
    const draft = { server: id, operation: 'nothing', arguments: {} };
    expect(await engine.controls.run(draft, { validates: true })).toEqual({
      kind: 'refused',
      reason: 'its toolset has no operation "nothing"',
    });
  });

  test('RT-ARGS: with invalid arguments is not sent, and the error has its place', async () => {
    await using engine = startEngine();
    const server = await engine.ready(plain.url);
    const draft = { server, operation: 'echo', arguments: { text: 7 } };
    expect(await engine.controls.run(draft, { validates: true })).toEqual({
      kind: 'invalid',
      faults: [{ path: '$.text', message: 'must be string (type)' }],
    });
    expect(engine.model.sources[0]?.callLog.keys).toEqual([]);
    expect(await engine.controls.run(draft, { validates: false })).toMatchObject({ kind: 'sent' });
    const unvalidated = engine.model.sources[0]?.callLog.keys[0] ?? '';
    const checked = await engine.call(server, 'echo', { text: 'a' });
    expect([unvalidated, checked].map(engine.model.isUnvalidated)).toEqual([true, false]);
    expect((await engine.controls.asCommand(unvalidated, 0)).text).toContain('invoke --no-validate http');
    expect((await engine.controls.asCommand(checked, 0)).text).not.toContain('--no-validate');
  });

  test('RT-CHOICE: gets the user’s answer to its question, once', async () => {
    await using engine = startEngine();
    const key = await engine.call(await engine.ready(stdlib.url), 'ask');
    const { questions } = await engine.until(key, exchange => exchange.questions.length > 0);
    const leg = questions[0]?.leg ?? '';
    expect(engine.controls.answer(key, leg, 99)).toMatchObject({ isBad: true });
    expect(engine.controls.answer(key, 'no leg', 0)).toMatchObject({ isBad: true });
    expect(engine.controls.answer(key, leg, 1)).toBeNull();
    const exchange = await engine.until(key);
    expect(llmTextOf(exchange)).toBe('Chosen: production');
    expect(exchange.selections).toMatchObject([{ by: 'person', selected: 1 }]);
    expect(engine.controls.answer(key, leg, 1)).toMatchObject({ isBad: true });
  });

  test('is canceled, and the tool is notified', async () => {
    await using engine = startEngine();
    const key = await engine.call(await engine.ready(stdlib.url), 'work', { ms: 60_000 });
    expect(await engine.controls.cancel(key)).toEqual({
      text: 'canceled, and the tool was notified',
      isBad: false,
    });
    expect((await engine.until(key)).settled).toMatchObject({ by: 'cancel', who: 'person' });
    expect(await engine.controls.cancel(key)).toMatchObject({ isBad: true });
  });

  test('RT-SUB: receives events of a subscription until it is canceled', async () => {
    await using engine = startEngine();
    const id = await engine.ready(plain.url);
    const key = await engine.call(id, 'watch', { events: 1_000, every_ms: 5 });
    await engine.until(key, ({ subscription }) => (subscription?.events ?? 0) > 2);
    expect(await engine.controls.cancel(key)).toMatchObject({ isBad: false });
    expect((await engine.until(key)).subscription).toMatchObject({ ended: { by: 'cancel', who: 'person' } });
  });
});

describe('quitting while a call is being prepared', () => {
  const REFUSED = { kind: 'refused', reason: 'the workbench is being closed' };
  const listening = () => process.getActiveResourcesInfo().filter(name => name === 'TCPServerWrap').length;

  test('sends nothing, then or later, and leaves no listener', async () => {
    const before = listening();
    const engine = startEngine();
    const server = await engine.ready(plain.url);
    const purposes: string[] = [];
    engine.log.subscribe(event => event.kind === 'request' && purposes.push(event.purpose));
    const draft = { server, operation: 'echo', arguments: { text: 'late' } };
    const running = engine.controls.run(draft, { validates: true });
    await engine.close();
    expect(await running).toEqual(REFUSED);
    expect(await engine.controls.run(draft, { validates: false })).toEqual(REFUSED);
    expect(purposes).toEqual([]);
    await eventually('nothing listens', () => listening() <= before);
  });
});

test('closing cancels pending calls and closes each thread created here, at every server', async () => {
  const engine = startEngine();
  const [one, other] = await Promise.all([engine.ready(plain.url), engine.ready(stdlib.url)]);
  const done = await engine.call(one, 'echo', { text: 'a' });
  await engine.until(done);
  const named = startEngine({ groupId: 'thread_of_mine' });
  await named.until(await named.call(await named.ready(plain.url), 'echo', { text: 'a' }));
  await named.close();
  const pending = await engine.call(other, 'work', { ms: 60_000 });
  const { exchanges } = engine.model.sources[0]?.callLog.history ?? { exchanges: new Map() };
  const threads = [done, pending].map(key => exchanges.get(key)?.invocation.group_id);
  await engine.close();
  expect((await engine.until(pending)).settled).toMatchObject({ by: 'cancel', who: 'person' });
  for (const peer of [plain, stdlib]) {
    const closed = await eventually('the notices', async () => {
      const log = await peer.log();
      return log.some(({ what }) => what === 'close_thread') && log;
    });
    const closedThreads = closed
      .filter(({ what }) => what === 'close_thread')
      .map(entry => fieldOf(entry, 'thread_id'));
    for (const thread of threads) expect(closedThreads).toContain(thread);
    expect(closedThreads).not.toContain('thread_of_mine');
  }
});

const toolset = (endpoint: string, inputSchema: object = { type: 'object' }) =>
  JSON.stringify({
    name: 'mortal',
    endpoint,
    tools: [{ name: 'echo', description: 'says it', inputSchema }],
  });

/** A tool that exits on request. */
const MORTAL = `
import { createServer } from 'node:http';
const server = createServer((request, response) => {
  if (request.url === '/die') {
    console.error('bye');
    process.exit(3);
  }
  response.end(${JSON.stringify(toolset('ENDPOINT'))}.replace('ENDPOINT', 'http://127.0.0.1:' + server.address().port + '/invoke'));
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })));
`;

test('the pending calls of a server that exits or is restarted end', async () => {
  await using folder = await temporaryFolder();
  await folder.write('mortal.mjs', MORTAL);
  await using engine = startEngine({});
  const command = `'${process.execPath}' '${folder.file('mortal.mjs')}'`;
  const id = engine.open({ kind: 'command', command });
  const first = await engine.stands(id, 'ready');
  const restarted = await engine.call(id, 'echo');
  engine.controls.restart(id);
  expect((await engine.until(restarted)).settled).toMatchObject({ reason: 'the server was restarted' });
  await eventually('it is there again', async () => (await engine.stands(id, 'ready')).base !== first.base);
  const { base } = await engine.stands(id, 'ready');
  const died = await engine.call(id, 'echo');
  await fetch(`${base}/die`).catch(() => {});
  expect((await engine.until(died)).settled).toMatchObject({
    reason: 'the server exited with status 3 during `echo`',
    output: ['bye'],
  });
});

test('R on a call restarts the server that exited during it, and r calls again', async () => {
  await using folder = await temporaryFolder();
  await folder.write('mortal.mjs', MORTAL);
  await using engine = startEngine({});
  const id = engine.open({ kind: 'command', command: `node ${folder.file('mortal.mjs')}` });
  const { base } = await engine.stands(id, 'ready');
  const key = await engine.call(id, 'echo');
  await fetch(`${base}/die`).catch(() => {});
  await engine.until(key);
  expect(await engine.stands(id, 'failed')).toMatchObject({
    exited: 'exited with status 3',
    faults: ['bye'],
  });
  const workbench = openWorkbench(engine);
  workbench.press('c');
  expect(workbench.sees(100)).toMatch(/its last output .*\nbye /);
  workbench.press('r');
  expect(workbench.sees(200)).toContain(
    `node ${folder.file('mortal.mjs')} exited with status 3 · R restarts it`,
  );
  workbench.press('R');
  await engine.stands(id, 'ready');
  expect(engine.model.servers[0]).toMatchObject({ restarted: { why: null } });
  workbench.press('r');
  await eventually('the second call', () => engine.model.sources[0]?.callLog.keys.length === 2);
  engine.controls.restart(id, 'its files changed');
  await eventually('the restart', () => engine.model.servers[0]?.restarted?.why === 'its files changed');
});

test('row 12: another process at the address of an exited command gets no headers; the command can be started again', async () => {
  await using folder = await temporaryFolder();
  await folder.write('mortal.mjs', MORTAL);
  await using engine = startEngine({ headers: { 'x-key': 'canary' } });
  const command = `'${process.execPath}' '${folder.file('mortal.mjs')}'`;
  const id = engine.open({ kind: 'command', command });
  const { base } = await engine.stands(id, 'ready');
  await fetch(`${base}/die`).catch(() => {});
  expect((await engine.stands(id, 'failed')).message).toContain('the server exited with status 3');
  const draft = { server: id, operation: 'echo', arguments: {} };
  expect(await engine.controls.run(draft, { validates: true })).toEqual({
    kind: 'refused',
    reason: 'its server is not ready',
  });
  const keys: unknown[] = [];
  const heir = createServer(({ headers }, response) => {
    keys.push(headers['x-key']);
    response.end(toolset(`${base}/invoke`));
  });
  heir.listen(Number(new URL(base).port), '127.0.0.1');
  await once(heir, 'listening');
  engine.controls.open(base);
  await engine.stands(engine.model.servers[1]?.id ?? '', 'ready');
  expect(new Set(keys)).toEqual(new Set([undefined]));
  heir.close().closeAllConnections();
  engine.controls.load(id);
  await engine.stands(id, 'ready');
});

test('nothing is sent after closing, however far a call was prepared', async () => {
  await using plain = await startPeer('plain');
  for (const validates of [true, false])
    for (const ticks of [0, 2, 5, 11]) {
      const engine = startEngine();
      const server = await engine.ready(plain.url);
      const said: Event[] = [];
      await engine.until(await engine.call(server, 'echo', { text: 'the listener is open' }));
      engine.log.subscribe(event => void said.push(event));
      const draft = { server, operation: 'slow', arguments: { ms: 60_000 } };
      const running = engine.controls.run(draft, { validates });
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
      await engine.close();
      const before = said.length;
      const sent = await running;
      const purposes = said.flatMap(event => (event.kind === 'request' ? [event.purpose] : []));
      expect(purposes.lastIndexOf('invocation')).toBeLessThan(purposes.indexOf('close'));
      expect(said).toHaveLength(before);
      const last = [...(engine.model.sources[0]?.callLog.history.exchanges.values() ?? [])].at(-1);
      if (ticks === 0) expect(sent.kind).toBe('refused'); // closed before the call was ready
      if (sent.kind === 'sent') expect(last?.settled).toMatchObject({ by: 'cancel', who: 'person' });
      else expect(purposes).not.toContain('invocation');
    }
});

test('RT-ARGS: with an unusable inputSchema, the call is sent with a warning', async () => {
  const schema = { type: 'object', $ref: 'http://127.0.0.1:1/elsewhere' };
  await using serving = await startServing((response, { method }) =>
    response.end(method === 'POST' ? '' : toolset(`${serving.url}invoke`, schema)),
  );
  await using engine = startEngine();
  const id = await engine.ready(serving.url);
  const key = await engine.call(id, 'echo');
  const warned = engine.model.sources[0]?.callLog.of(key).filter(({ kind }) => kind === 'warned');
  expect(warned).toMatchObject([{ message: expect.stringContaining('the arguments were not checked') }]);
});
