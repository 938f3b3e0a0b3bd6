import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createRunnableClock, systemClock } from '../../src/system/clock.js';

function busyFor(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

/** A pair of connected sockets. */
async function connected() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = connect(port, '127.0.0.1');
  const [socket] = await accepted;
  const close = async () => {
    client.destroy();
    server.close();
  };
  return { server, port, client, socket, [Symbol.asyncDispose]: close };
}

describe.each([
  ['the clock of the system', () => systemClock],
  ['a runnable clock', createRunnableClock],
] as const)('%s', (_, createClock) => {
  test('after a blocked event loop, what has arrived is read before a time limit ends the wait for it', async () => {
    await using sockets = await connected();
    const clock = createClock();
    const order: string[] = [];
    const read = once(sockets.client, 'data').then(() => order.push('read'));
    const late = new Promise<void>(resolve => {
      clock.after(20, () => {
        order.push('late');
        resolve();
      });
    });
    sockets.socket.write('an answer');
    busyFor(50);
    await Promise.all([read, late]);
    expect(order).toEqual(['read', 'late']);
  });

  test('one of two that are due at the same time can cancel the other', async () => {
    const clock = createClock();
    const called: string[] = [];
    clock.after(1, () => {
      called.push('first');
      cancelSecond();
    });
    const cancelSecond = clock.after(1, () => called.push('second'));
    await new Promise<void>(resolve => void clock.after(10, resolve));
    expect(called).toEqual(['first']);
  });

  test('waits end in the order in which they are due', async () => {
    const clock = createClock();
    const called: number[] = [];
    await new Promise<void>(resolve => {
      clock.after(60, resolve);
      for (const ms of [30, 10, 20]) clock.after(ms, () => called.push(ms));
    });
    expect(called).toEqual([10, 20, 30]);
  });
});

test('a runnable clock does not count the time of a blocked event loop, but tells it', () => {
  const clock = createRunnableClock();
  const cancel = clock.after(1_000, () => {});
  const [now, runnable] = [clock.now(), clock.runnable()];
  busyFor(200);
  expect(clock.now() - now).toBeGreaterThanOrEqual(200);
  expect(clock.runnable() - runnable).toBeLessThan(10);
  cancel();
});

test('a connection that came while the event loop was blocked is accepted and read before a runnable time limit ends', async () => {
  await using sockets = await connected();
  const clock = createRunnableClock();
  const order: string[] = [];
  const read = once(sockets.server, 'connection').then(async ([socket]) => {
    await once(socket, 'data');
    order.push('read');
    socket.destroy();
  });
  const program = `require('net').connect(${sockets.port}, '127.0.0.1').write('a request', () => process.exit())`;
  const late = new Promise<void>(resolve => {
    clock.after(30, () => {
      order.push('late');
      resolve();
    });
  });
  spawnSync(process.execPath, ['-e', program]); // blocks the event loop until it has ended
  await Promise.all([read, late]);
  expect(order).toEqual(['read', 'late']);
});
