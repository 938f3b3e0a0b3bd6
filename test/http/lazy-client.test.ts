import { expect, test } from 'vitest';
import type { HttpRequest } from '../../src/http/client.js';
import { lazyClient } from '../../src/http/client.js';

const request: HttpRequest = { method: 'GET', url: 'http://127.0.0.1/', headers: {}, read: 'nothing' };

function counted() {
  const counts = { loaded: 0, sent: 0, closed: 0 };
  const client = lazyClient(async () => {
    counts.loaded++;
    return {
      send: async () => {
        counts.sent++;
        return { status: 200, headers: {}, body: new Uint8Array() };
      },
      close: async () => void counts.closed++,
    };
  });
  return { counts, client };
}

test('a client is loaded once, when it is first needed', async () => {
  const { counts, client } = counted();
  expect(counts.loaded).toBe(0);
  await Promise.all([client.send(request), client.send(request)]);
  await client.close();
  expect(counts).toEqual({ loaded: 1, sent: 2, closed: 1 });
});

test('one that was never needed is never loaded', async () => {
  const { counts, client } = counted();
  await client.close();
  expect(counts).toEqual({ loaded: 0, sent: 0, closed: 0 });
});

test('one that cannot be loaded fails what needs it', async () => {
  const client = lazyClient(() => Promise.reject(new Error('not there')));
  await expect(client.send(request)).rejects.toThrow('not there');
});
