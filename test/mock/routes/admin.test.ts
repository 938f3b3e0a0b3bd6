import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { rawExchange, request, statusOf } from '../../http/raw.js';
import { replying, stageWith } from '../stage.js';

const sequence = {
  fixtures: [
    { match: { operation: 'op' }, sequence: [{ payload: 'one' }, { payload: 'two' }], exhausted: 'last' },
  ],
};

describe('GET /__mock__/journal', () => {
  test('what came and what was said, as JSON', async () => {
    await using stage = await stageWith(replying({ payload: 'done' }));
    await (await stage.invoke({ args: { a: 1 } })).result();
    await stage.tool.waitForDelivery('i');
    const answer = await fetch(`${stage.tool.url}/__mock__/journal`);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(await answer.json()).toMatchObject({
      calls: [
        {
          id: 'i',
          group_id: 'g',
          operation: 'op',
          fixture: 'one',
          state: 'delivered',
          deliveries: [{ delivered: true }],
        },
      ],
      forgotten: 0,
    });
  });

  test('event by event, as the lines of a transcript', async () => {
    await using stage = await stageWith(replying({ payload: 'done' }), { program: 'test/1' });
    await (await stage.invoke()).result();
    const answer = await fetch(`${stage.tool.url}/__mock__/journal`, {
      headers: { accept: 'application/x-ndjson' },
    });
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
    const lines = (await answer.text())
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(lines[0]).toMatchObject({ kind: 'header', observer: 'tool', program: 'test/1' });
    expect(lines.map(({ kind }) => kind)).toContain('matched');
  });
});

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

describe('POST /__mock__/reset', () => {
  test('one key: its counts begin anew', async () => {
    await using stage = await stageWith(sequence);
    const text = async (id: string, groupId: string) =>
      (await (await stage.invoke({ id, groupId })).result()).body?.['text'];
    expect([await text('a', 'g'), await text('b', 'h')]).toEqual(['one', 'one']);
    const answer = await stage.post('/__mock__/reset', { key: 'g' });
    expect(await answer.json()).toEqual({ reset: 'g' });
    expect([await text('c', 'g'), await text('d', 'h')]).toEqual(['one', 'two']);
    expect(stage.tool.calls()).toHaveLength(4);
  });

  test.each([
    ['no body', undefined],
    ['an empty object', {}],
  ])('everything, with %s', async (_, body) => {
    await using stage = await stageWith(sequence);
    const call = await stage.invoke();
    await call.result();
    await stage.tool.waitForDelivery('i');
    expect(await (await stage.post('/__mock__/reset', body)).json()).toEqual({ reset: 'all' });
    expect([stage.tool.calls(), stage.tool.verify().calls]).toEqual([[], 0]);
    const again = await stage.invoke({ body: JSON.stringify(call.invocation) });
    expect(again.ack.status).toBe(200);
    expect((await stage.tool.waitForDelivery('i')).answeredBy).not.toBeNull();
    expect(call.callbacks.map(callback => callback.body?.['text'])).toEqual(['one', 'one']);
  });

  test.each(['[]', '{"key":7}', '{"key":null}', '7', '{'])('not with %s', async body => {
    await using stage = await stageWith(sequence);
    const answer = await stage.post('/__mock__/reset', body);
    expect([answer.status, await answer.text()]).toEqual([
      400,
      'The body must be empty, or JSON such as {"key":"…"}.\n',
    ]);
  });
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

test('POST /__mock__/fire: by id, or all that wait', async () => {
  const reply = [{ result: { text: 'on', subscription: true } }, { event: { text: 'now' }, on: 'demand' }];
  await using stage = await stageWith(replying(reply));
  for (const id of ['a', 'b', 'c']) await (await stage.invoke({ id })).result();
  const fire = async (body?: unknown) => (await stage.post('/__mock__/fire', body)).json();
  expect([await fire({ id: 'x' }), await fire({ id: 'a' }), await fire(), await fire()]).toEqual([
    { fired: 0 },
    { fired: 1 },
    { fired: 2 },
    { fired: 0 },
  ]);
});

test('POST /__mock__/fire: in one thread only, since ids are not of all threads', async () => {
  const reply = [{ result: { text: 'on', subscription: true } }, { event: { text: 'now' }, on: 'demand' }];
  await using stage = await stageWith(replying(reply));
  const calls = [await stage.invoke({ groupId: 'g' }), await stage.invoke({ groupId: 'h' })];
  for (const call of calls) await call.result();
  const fired = await stage.post('/__mock__/fire', { id: 'i', group_id: 'h' });
  expect(await fired.json()).toEqual({ fired: 1 });
  await calls[1]?.waitFor('subscription_event');
  expect(calls[0]?.callbacks).toHaveLength(1);
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

  test.each(['/__mock__/reset', '/__mock__/fire'])('row 3: JSON only: %s', async path => {
    await using stage = await stageWith(sequence);
    const bodies: RequestInit[] = [
      { body: '{}' },
      { body: 'key=g', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    ];
    for (const init of bodies)
      expect((await fetch(stage.tool.url + path, { method: 'POST', ...init })).status).toBe(415);
    expect((await fetch(stage.tool.url + path)).status).toBe(405);
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

  test('row 2: a host that is allowed by name', async () => {
    await using stage = await stageWith(sequence, { allowHosts: ['mock'] });
    const answer = await rawExchange(
      stage.tool.port,
      request('GET /.well-known/rap-toolset', 'Host: mock:80'),
    );
    expect(answer).toContain('"endpoint":"http://mock:80/invoke"');
  });
});
