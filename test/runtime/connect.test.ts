import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { llmTextOf, outcomeOf } from '../../src/exchange/ending.js';
import { type Connection, connect } from '../../src/runtime/connect.js';
import { type Peer, startPeer } from '../e2e/support/peers.js';

let stdlib: Peer;
let plain: Peer;
let asking: Connection;
let watching: Connection;
beforeAll(async () => {
  [stdlib, plain] = await Promise.all([startPeer('stdlib'), startPeer('plain')]);
  [asking, watching] = await Promise.all([connect(stdlib.url), connect(plain.url)]);
});
afterAll(async () => {
  await Promise.all([asking.close(), watching.close()]);
  await Promise.all([stdlib.stop(), plain.stop()]);
});

describe('a tool that asks', () => {
  test('RT-CHOICE: is answered by whoever calls', async () => {
    const exchange = await asking.invoke(
      'ask',
      {},
      { choose: ({ choices }) => choices.indexOf('production') },
    );
    expect(llmTextOf(exchange)).toBe('Chosen: production');
    expect(exchange.selections).toMatchObject([{ by: 'policy', selected: 1 }]);
  });

  test('gives the call back with its question where nobody answers', async () => {
    const { settled, waitingFor } = await asking.invoke('ask', {});
    expect(settled).toBeNull();
    expect(waitingFor).toMatchObject({ type: 'user_choice', choices: expect.arrayContaining(['staging']) });
  });

  test('and where whoever calls cannot', async () => {
    const choose = () => {
      throw new Error('no idea');
    };
    expect(await asking.invoke('ask', {}, { choose })).toMatchObject({ settled: null });
  });
});

describe('a subscription', () => {
  test('RT-SUB: is followed until its last event', async () => {
    const { subscription } = await watching.invoke('watch', { events: 3 }, { follow: true });
    expect(subscription).toMatchObject({ events: 3, ended: { by: 'final' } });
  });

  test('is followed by nobody who did not ask for it', async () => {
    const exchange = await watching.invoke('watch', { events: 2, every_ms: 60_000 });
    expect(outcomeOf(exchange)?.type).toBe('success');
    expect(exchange.subscription).toMatchObject({ ended: null });
  });
});

test('an operation that there is none of is never sent', async () => {
  await expect(watching.invoke('nothing_like_it', {})).rejects.toMatchObject({ code: 'unknown-operation' });
});
