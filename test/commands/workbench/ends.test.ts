import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import type { Event } from '../../../src/events/events.js';
import { eventually } from '../../e2e/support/eventually.js';
import { temporaryFolder } from '../../e2e/support/folder.js';
import { startPeer } from '../../e2e/support/peers.js';
import { startServing } from '../../support/serving.js';
import { startBench } from './bench.js';

const toolset = (endpoint: string, inputSchema: object = { type: 'object' }) =>
  JSON.stringify({
    name: 'mortal',
    endpoint,
    tools: [{ name: 'echo', description: 'says it', inputSchema }],
  });

/** A tool that ends when it is asked to. */
const MORTAL = `
import { createServer } from 'node:http';
const server = createServer((request, response) => {
  if (request.url === '/die') process.exit(3);
  response.end(${JSON.stringify(toolset('ENDPOINT'))}.replace('ENDPOINT', 'http://127.0.0.1:' + server.address().port + '/invoke'));
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })));
`;

test('a server that exits or is restarted: its pending calls end', async () => {
  await using folder = await temporaryFolder();
  await folder.write('mortal.mjs', MORTAL);
  await using bench = startBench({});
  const command = `'${process.execPath}' '${folder.file('mortal.mjs')}'`;
  const id = bench.open({ kind: 'command', command });
  const first = await bench.stands(id, 'ready');
  const restarted = await bench.call(id, 'echo');
  bench.controls.restart(id);
  expect((await bench.until(restarted)).settled).toMatchObject({ reason: 'the server was restarted' });
  await eventually('it is there again', async () => (await bench.stands(id, 'ready')).base !== first.base);
  const { base } = await bench.stands(id, 'ready');
  const died = await bench.call(id, 'echo');
  await fetch(`${base}/die`).catch(() => {});
  expect((await bench.until(died)).settled).toMatchObject({ reason: 'the server exited with status 3' });
});

test('row 12: anyone who listens where a command died gets none of its headers; it can be started again', async () => {
  await using folder = await temporaryFolder();
  await folder.write('mortal.mjs', MORTAL);
  await using bench = startBench({ headers: { 'x-key': 'canary' } });
  const command = `'${process.execPath}' '${folder.file('mortal.mjs')}'`;
  const id = bench.open({ kind: 'command', command });
  const { base } = await bench.stands(id, 'ready');
  await fetch(`${base}/die`).catch(() => {});
  expect((await bench.stands(id, 'failed')).message).toContain('the server exited with status 3');
  const draft = { server: id, operation: 'echo', arguments: {} };
  expect(await bench.controls.run(draft, { validates: true })).toEqual({
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
  bench.controls.open(base);
  await bench.stands(bench.world.servers[1]?.id ?? '', 'ready');
  expect(new Set(keys)).toEqual(new Set([undefined]));
  heir.close().closeAllConnections();
  bench.controls.wake(id);
  await bench.stands(id, 'ready');
});

test('nothing is sent after the farewell, however far a call was prepared', async () => {
  await using plain = await startPeer('plain');
  for (const validates of [true, false])
    for (let ticks = 0; ticks < 12; ticks++) {
      const bench = startBench();
      const server = bench.open({ kind: 'url', url: plain.url });
      await bench.stands(server, 'ready');
      const said: Event[] = [];
      await bench.until(await bench.call(server, 'echo', { text: 'the listener is open' }));
      bench.log.subscribe(event => void said.push(event));
      const draft = { server, operation: 'slow', arguments: { ms: 60_000 } };
      const running = bench.controls.run(draft, { validates });
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
      await bench.close();
      const told = said.length;
      const sent = await running;
      const purposes = said.flatMap(event => (event.kind === 'request' ? [event.purpose] : []));
      expect(purposes.lastIndexOf('invocation')).toBeLessThan(purposes.indexOf('close'));
      expect(said).toHaveLength(told);
      const last = [...(bench.world.volumes[0]?.book.history.exchanges.values() ?? [])].at(-1);
      if (ticks === 0) expect(sent.kind).toBe('refused'); // all was over before it was ready
      if (sent.kind === 'sent') expect(last?.settled).toMatchObject({ by: 'cancel', who: 'person' });
      else expect(purposes).not.toContain('invocation');
    }
});

test('RT-ARGS: where the inputSchema cannot be used, the call is sent, with a warning', async () => {
  const schema = { type: 'object', $ref: 'http://127.0.0.1:1/elsewhere' };
  await using serving = await startServing((response, { method }) =>
    response.end(method === 'POST' ? '' : toolset(`${serving.url}invoke`, schema)),
  );
  await using bench = startBench();
  const id = bench.open({ kind: 'url', url: serving.url });
  await bench.stands(id, 'ready');
  const key = await bench.call(id, 'echo');
  const warned = bench.world.volumes[0]?.book.of(key).filter(({ kind }) => kind === 'warned');
  expect(warned).toMatchObject([{ message: expect.stringContaining('the arguments were not checked') }]);
});
