import { request } from 'node:http';
import { expect, test } from 'vitest';
import { eventually } from '../e2e/support/eventually.js';
import { openSink, SINKS } from './callback-sink.mjs';

const post = (url: string, body: string) => fetch(url, { method: 'POST', body, redirect: 'manual' });

test('sends ordinary responses in order', async () => {
  await using sink = await openSink(SINKS.broken, SINKS.busy, SINKS.refuses, SINKS.moved, SINKS.ok);
  const statuses: number[] = [];
  for (const body of ['1', '2', '3', '4', '5', '6']) statuses.push((await post(sink.url, body)).status);
  expect(statuses).toEqual([500, 503, 400, 301, 200, 200]);
  expect(sink.requests.map(({ raw }) => raw)).toEqual(['1', '2', '3', '4', '5', '6']);
  expect(sink.followed).toBe(0);
});

test.each(['reset', 'half'] as const)('%s: the connection breaks once the body is read', async kind => {
  await using sink = await openSink(SINKS[kind]);
  await expect(post(sink.url, 'body')).rejects.toThrow();
  expect(sink.requests).toMatchObject([{ raw: 'body' }]);
});

test('endless: sends a status and a body without end', async () => {
  await using sink = await openSink(SINKS.endless);
  const answer = await post(sink.url, 'body');
  expect(answer.status).toBe(200);
  const reader = answer.body?.getReader();
  for (let chunks = 0; chunks < 3; chunks += 1) expect((await reader?.read())?.done).toBe(false);
  await reader?.cancel();
});

test.each(['hang', 'drip'] as const)(
  '%s: no response; the connection counts until it is closed',
  async kind => {
    await using sink = await openSink(SINKS[kind]);
    const outgoing = request(sink.url, { method: 'POST' }).on('error', () => {});
    outgoing.end('a body that takes its time');
    await eventually('a request', () => sink.requests.length === 1);
    expect(sink).toMatchObject({ connections: 1, open: 1, mostOpen: 1 });
    outgoing.destroy();
    await eventually('the end of it', () => sink.open === 0);
  },
);
