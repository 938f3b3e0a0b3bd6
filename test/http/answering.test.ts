import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { hello, rawExchange, request, statusOf, watchedServer } from './raw.js';

const STARTED = 'http.server.request.start';

it.each<[string, string, readonly string[], string]>([
  ['with a body', 'x'.repeat(100_000), [], ''],
  ['without a body', '', [], ''],
  ['to a request that was not read', 'x', ['Content-Length: 4'], 'body'],
])('sent() is called once, after the whole answer was written: %s', async (_, body, headers, payload) => {
  const seen: object[] = [];
  let response: ServerResponse | undefined;
  const started = (message: unknown) => {
    response = (message as { readonly response: ServerResponse }).response;
  };
  subscribe(STARTED, started);
  onTestFinished(() => void unsubscribe(STARTED, started));
  const look = () => {
    const { writableEnded, headersSent, socket = null } = response ?? {};
    seen.push({ writableEnded, headersSent, isConnected: socket !== null });
  };
  const handle = () => {
    expect(response?.writableEnded).toBe(false);
    return { status: 200, body, sent: look };
  };
  await using server = await watchedServer({ routes: [{ ...hello, handle }] });
  const answer = await rawExchange(
    server.port,
    request('GET /hello', 'Host: 127.0.0.1', ...headers),
    payload,
  );
  expect(statusOf(answer)).toBe(200);
  expect(answer.endsWith(`\r\n\r\n${body}`)).toBe(true);
  expect(seen).toEqual([{ writableEnded: true, headersSent: true, isConnected: true }]);
});
