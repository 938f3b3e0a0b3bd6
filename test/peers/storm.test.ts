import { expect, test } from 'vitest';
import { startPeer } from '../e2e/support/peers.js';
import { storm } from './storm.mjs';

const CLEAN = { missing: 0, twice: 0, crossed: 0, disordered: 0, refusals: {} };

test('each of 400 calls gets its own result once', async () => {
  await using tool = await startPeer('plain');
  const summary = await storm(tool.url, 'echo', { own: 'text', calls: 400, connections: 20, threads: 40 });
  expect(summary).toMatchObject({ sent: 400, acked: 400, delivered: 400, ...CLEAN });
});

test('keyed: counts the texts per thread', async () => {
  await using tool = await startPeer('plain');
  const summary = await storm(tool.url, 'echo', { args: { text: '1' }, keyed: true, calls: 30, threads: 10 });
  expect(summary).toMatchObject({ delivered: 30, disordered: 20 });
});

test('counts failures', async () => {
  await using tool = await startPeer('odd');
  const few = { calls: 10, threads: 2, withinMs: 200 };
  expect(await storm(tool.url, 'delivered_twice', few)).toMatchObject({ delivered: 10, twice: 10 });
  expect(await storm(tool.url, 'forged_id', few)).toMatchObject({ delivered: 0, missing: 10, crossed: 10 });
  expect(await storm(tool.url, 'silent', few)).toMatchObject({ acked: 10, missing: 10 });
  expect(await storm(tool.url, 'ack_500', few)).toMatchObject({ acked: 0, refusals: { 500: 10 } });
});
