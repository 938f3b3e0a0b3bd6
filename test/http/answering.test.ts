import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { sendAnswer } from '../../src/http/server.js';
import { rawExchange, request, statusOf } from './raw.js';

const LINGER_MS = 200;

/** What was so of the response when `sent` was called, of one request to a real server. */
async function whenSent(body: string, asked: readonly string[], payload = '') {
  const seen: object[] = [];
  const look = ({ writableEnded, headersSent, socket }: ServerResponse) =>
    void seen.push({ writableEnded, headersSent, isConnected: socket !== null });
  const server = createServer((incoming, response) => {
    const answer = { status: 200, body, sent: () => look(response) };
    expect(response.writableEnded).toBe(false);
    void sendAnswer(incoming, response, answer, {
      lingerMs: LINGER_MS,
      connections: { watchReading() {}, turn: async () => {} },
    });
    expect(seen).toEqual([]);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const answer = await rawExchange(port, request('POST /', 'Host: 127.0.0.1', ...asked), payload);
  server.close();
  return { seen, status: statusOf(answer) };
}

it.each<[string, string, readonly string[], string]>([
  ['one with a body', 'x'.repeat(100_000), [], ''],
  ['one without', '', [], ''],
  ['one to a request that was not read', 'x', ['Content-Length: 4'], 'body'],
])('an answer is handed over whole before what follows it begins: %s', async (_, body, asked, payload) => {
  const { seen, status } = await whenSent(body, asked, payload);
  expect(status).toBe(200);
  expect(seen).toEqual([{ writableEnded: true, headersSent: true, isConnected: true }]);
});
