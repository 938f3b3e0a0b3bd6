import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/system/clock.js';

function busyFor(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

test('after a blocked event loop, what has arrived is read before a time limit ends the wait for it', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = connect(port, '127.0.0.1');
  const [socket] = await accepted;
  const order: string[] = [];
  const read = once(client, 'data').then(() => order.push('read'));
  const late = new Promise<void>(resolve => {
    systemClock.after(20, () => {
      order.push('late');
      resolve();
    });
  });
  socket.write('an answer');
  busyFor(50);
  await Promise.all([read, late]);
  expect(order).toEqual(['read', 'late']);
  client.destroy();
  server.close();
});

test('one of two that are due at the same time can cancel the other', async () => {
  const called: string[] = [];
  systemClock.after(1, () => {
    called.push('first');
    cancelSecond();
  });
  const cancelSecond = systemClock.after(1, () => called.push('second'));
  await new Promise<void>(resolve => void systemClock.after(10, resolve));
  expect(called).toEqual(['first']);
});
