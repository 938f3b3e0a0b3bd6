import { createServer, type RequestListener } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { guardedFetch } from '../../src/http/pooled-client.js';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function serving(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => new Promise(resolve => server.close(resolve).closeAllConnections()));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
}

function fetching(maxBytes = 1_000) {
  const { fetch, close } = guardedFetch({ maxBytes });
  ends.unshift(close);
  return fetch;
}

test('sends the request as given, and returns the response', async () => {
  const url = await serving(async (request, response) => {
    for await (const chunk of request) response.write(chunk);
    response.end(request.headers['x-key']);
  });
  const answer = await fetching()(url, { method: 'POST', headers: { 'x-key': 'k' }, body: 'body' });
  expect([answer.status, await answer.text()]).toEqual([200, 'bodyk']);
});

test('does not follow redirects', async () => {
  const url = await serving((_, response) => void response.writeHead(302, { location: '/there' }).end());
  const answer = await fetching()(url);
  expect([answer.status, answer.headers.get('location')]).toEqual([302, '/there']);
});

test('fails for a body over the limit', async () => {
  const url = await serving((_, response) => void response.end('x'.repeat(2_000)));
  const answer = await fetching()(url);
  await expect(answer.text()).rejects.toMatchObject({ code: 'TOO_LARGE' });
});

test.each([
  ['http://169.254.169.254/', 'REFUSED_ADDRESS'],
  ['file:///etc/passwd', 'BAD_URL'],
  ['http://127.0.0.1:1024/', 'ECONNREFUSED'],
])('refuses %s: %s', async (url, code) => {
  await expect(fetching()(url)).rejects.toMatchObject({ name: 'TransportError', code });
});
