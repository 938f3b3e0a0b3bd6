import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { folded } from './support/folded.js';
import { temporaryFolder } from './support/folder.js';
import { runHere } from './support/in-process.js';
import { type Peer, startPeer } from './support/peers.js';
import { argv } from './support/program.js';

let plain: Peer;
beforeAll(async () => {
  plain = await startPeer('plain');
});
afterAll(() => plain.stop());

const call = (...args: readonly string[]) => ['invoke', plain.url, 'echo', 'text=hi', ...args];
const repeat = (...args: readonly string[]) => runHere(call(...args));

describe.concurrent('--repeat', () => {
  test('a line for each call, then a summary; in a pipe too', async () => {
    const { stdout, stderr, status } = await repeat('-q', '--repeat', '12', '--concurrency', '4');
    const lines = stdout.split('\n');
    expect(
      lines.filter(line => /^ +\d+ ✓ success {2}acknowledged +[\d.]+m?s result +[\d.]+m?s {2}hi$/.test(line)),
    ).toHaveLength(12);
    expect(lines).toContain('12 calls: 12 success');
    expect(stdout).toMatch(/^acknowledged after min [\d.]+m?s · median [\d.]+m?s · p99 [\d.]+m?s$/m);
    expect(stdout).toMatch(/^results after min [\d.]+m?s · median [\d.]+m?s · p99 [\d.]+m?s$/m);
    expect([status, stderr]).toEqual([0, '']);
  });

  test('each call has its own id and thread, and every thread is closed', async () => {
    const { stdout } = await repeat('--repeat', '5', '--concurrency', '5', '-o', 'ndjson');
    const { history } = folded(stdout);
    const exchanges = [...history.exchanges.values()];
    expect(new Set(exchanges.map(({ invocation }) => invocation.id)).size).toBe(5);
    expect(
      [...history.threads.values()].map(({ calls, closedAt }) => [calls.length, closedAt !== null]),
    ).toEqual(Array(5).fill([1, true]));
  });

  test('with --group-id all calls are in that thread', async () => {
    const { stdout } = await repeat('--repeat', '3', '--group-id', 'one-thread', '-o', 'json');
    const { calls, summary } = JSON.parse(stdout);
    expect(calls.map((call: { invocation: { group_id: string } }) => call.invocation.group_id)).toEqual(
      Array(3).fill('one-thread'),
    );
    expect(summary).toMatchObject({ calls: 3, outcomes: { success: 3 }, crossed: 0 });
  });

  test('the worst call decides the exit status', async () => {
    const { status, stdout } = await runHere(argv`invoke --demo rate_limited --repeat 2`);
    expect(status).toBe(5);
    expect(stdout).toMatch(/^ +1 ✗ error .*Error: API rate limit exceeded/m);
    expect(stdout).toContain('2 calls: 2 error');
  });

  test('missing results are reported for each call, at the end', async () => {
    const { status, stdout } = await runHere(
      argv`invoke ${plain.url} slow ms=5000 --repeat 2 --timeout 500ms`,
    );
    expect(status).toBe(7);
    expect(stdout).toContain('2 calls: 2 timeout');
  });

  test.each([
    ['--choose that fits no choice', ['--choose', 'mars']],
    ['no one to answer', []],
  ])('%s: each call ends with its question, exit 6', async (_, choose) => {
    const { status, stdout } = await runHere(argv`
      invoke --demo write_outside path=a --repeat 2 --timeout 10s ${choose}
    `);
    expect(status).toBe(6);
    expect(stdout).toContain('2 calls: 2 pending');
  });

  test('--choose answers each of them', async () => {
    const words = ['write_outside', 'path=a', '--repeat', '6', '--concurrency', '6', '--choose', '0'];
    const { status, stdout, stderr } = await runHere(argv`invoke --demo ${words} --group-id g`);
    expect(stdout).toContain('6 calls: 6 success');
    expect(stderr).not.toContain('response_url');
    expect(status).toBe(0);
  });

  test('a policy is applied once, and nothing is called', async () => {
    await using folder = await temporaryFolder();
    const policy = await folder.write('policy.json', '{"version":1,"deny":["echo"]}');
    const { status, stderr, stdout } = await repeat('--repeat', '2', '--policy', policy);
    expect([status, stderr]).toEqual([5, '']);
    expect(stdout).toMatch(
      /^ +1 ✗ denied .* echo was not called: the policy denies echo\n\n1 call: 1 denied\n/,
    );
  });
});
