import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { isServed } from '../../src/http/free-port.js';

test('on macOS a server on all addresses is noticed; elsewhere the system notices it', async () => {
  const server = createServer().listen(0, '0.0.0.0');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    expect(await isServed('127.0.0.1', port, 'darwin')).toBe(true);
    expect(await isServed('127.0.0.1', port, 'linux')).toBe(false);
    expect(await isServed('127.0.0.1', 0, 'darwin')).toBe(false);
  } finally {
    server.close();
  }
  await once(server, 'close');
  expect(await isServed('127.0.0.1', port, 'darwin')).toBe(false);
});
