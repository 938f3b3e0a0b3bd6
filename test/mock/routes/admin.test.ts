import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { rawExchange, request, statusOf } from '../../http/raw.js';
import { replying, stageWith } from '../stage.js';

const sequence = {
  fixtures: [
    { match: { operation: 'op' }, sequence: [{ payload: 'one' }, { payload: 'two' }], exhausted: 'last' },
  ],
};

test('row 14: a journal with many slow readers is held in memory once', async () => {
  await using stage = await stageWith(replying({ payload: 'done' }));
  for (let n = 0; n < 40; n++)
    await (await stage.invoke({ id: `i${n}`, args: { text: `${n}`.padEnd(200_000) } })).result();
  const before = process.memoryUsage();
  const sockets = Array.from({ length: 200 }, () => {
    const socket = connect(stage.tool.port, '127.0.0.1');
    socket.write('GET /__mock__/journal HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    return socket.pause();
  });
  const start = performance.now();
  const answer = await fetch(`${stage.tool.url}/__mock__/journal`);
  expect(JSON.parse(await answer.text()).calls).toHaveLength(40);
  expect(performance.now() - start).toBeLessThan(5_000);
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  const more = arrayBuffers + heapUsed - before.arrayBuffers - before.heapUsed;
  expect(more / 1024 / 1024).toBeLessThan(200); // each of them had 16 MB
  for (const socket of sockets) socket.destroy();
});

test.each([
  ['/__mock__/reset', { keey: 'g' }, 'unknown field "keey". Did you mean "key"?\n'],
  ['/__mock__/fire', { ID: 'i' }, 'unknown field "ID". Did you mean "id"?\n'],
  [
    '/__mock__/fire',
    { id: 'i', '\u001bcolour': 1 },
    'unknown field "␛colour". Known fields: "id", "group_id".\n',
  ],
])('%s: a misspelt field never means everything: %j', async (path, body, text) => {
  await using stage = await stageWith(sequence);
  const answer = await stage.post(path, body);
  expect([answer.status, await answer.text()]).toEqual([400, text]);
});

describe('guarded like everything else', () => {
  test.each([
    ['POST', '/__mock__/reset', '{}', 415, 'refused, since its Content-Type is not application/json\n'],
    ['GET', '/__mock__/fire', null, 405, 'refused, since its method is not POST\n'],
    ['GET', '/nowhere', null, 404, 'refused, since nothing is served at its path\n'],
  ])('who is refused hears why: %s %s %s', async (method, path, body, status, text) => {
    await using stage = await stageWith(sequence);
    const answer = await fetch(stage.tool.url + path, { method, body });
    expect([answer.status, await answer.text()]).toEqual([status, text]);
  });

  test.each([
    ['row 2', 'evil.example', 403],
    ['row 4', '[', 400],
  ])('%s: Host %s', async (_, host, status) => {
    await using stage = await stageWith(sequence);
    for (const line of ['GET /__mock__/journal', 'POST /__mock__/reset'])
      expect(statusOf(await rawExchange(stage.tool.port, request(line, `Host: ${host}`)))).toBe(status);
    expect((await fetch(`${stage.tool.url}/__mock__/journal`)).status).toBe(200);
  });
});
