import { expect, test } from 'vitest';
import { startPeer } from '../e2e/support/peers.js';
import { storm } from './storm.mjs';

/** The accounts of a storm notice what goes wrong. */
const FEW = { calls: 10, threads: 2, withinMs: 300 };

test.each([
  ['plain', 'echo', { args: { text: '1' }, keyed: true, calls: 30, threads: 10 }, { disordered: 20 }],
  ['odd', 'delivered_twice', FEW, { delivered: 10, twice: 10 }],
  ['odd', 'forged_id', FEW, { delivered: 0, missing: 10, crossed: 10 }],
  ['odd', 'silent', FEW, { acked: 10, missing: 10 }],
  ['odd', 'ack_500', FEW, { acked: 0, refusals: { 500: 10 } }],
] as const)('%s, %s', async (name, operation, options, summary) => {
  await using tool = await startPeer(name);
  expect(await storm(tool.url, operation, options)).toMatchObject(summary);
});
