import { expect, it } from 'vitest';
import { hello, rawExchange, request, statusOf, watchedServer } from './raw.js';

it.each<[string, string, readonly string[], string]>([
  ['one with a body', 'x'.repeat(100_000), [], ''],
  ['one without', '', [], ''],
  ['one to a request that was not read', 'x', ['Content-Length: 4'], 'body'],
])('sent() is called once, when the answer was written: %s', async (_, body, headers, payload) => {
  const order: string[] = [];
  const handle = () => {
    order.push('handled');
    return { status: 200, body, sent: () => order.push('sent') };
  };
  await using server = await watchedServer({ routes: [{ ...hello, handle }] });
  const answer = await rawExchange(
    server.port,
    request('GET /hello', `Host: 127.0.0.1`, ...headers),
    payload,
  );
  expect(statusOf(answer)).toBe(200);
  expect(answer.endsWith(`\r\n\r\n${body}`)).toBe(true);
  expect(order).toEqual(['handled', 'sent']);
});
