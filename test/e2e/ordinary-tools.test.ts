import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { folded } from './support/folded.js';
import { temporaryFolder } from './support/folder.js';
import { runHere } from './support/in-process.js';
import { fieldOf, type Peer, startPeer } from './support/peers.js';
import { argv } from './support/program.js';
import { invokeJson, invokeJsonHere, type Report, verdicts, warningIds } from './support/report.js';

/** Tools as people write them: one in Node, one on Python's standard library; every operation of both. */
let plain: Peer;
let stdlib: Peer;

beforeAll(async () => {
  [plain, stdlib] = await Promise.all([startPeer('plain'), startPeer('stdlib')]);
});
afterAll(() => Promise.all([plain.stop(), stdlib.stop()]));

interface Case {
  readonly call: readonly string[];
  /** A process of its own, where what else this one does would cost time that counts. */
  readonly invoke?: typeof invokeJson;
  readonly status?: number;
  readonly outcome?: Partial<NonNullable<Report['outcome']>>;
  readonly text: string;
  readonly chosen?: number | null;
  readonly verdicts?: readonly string[];
}

const FAILED = { type: 'error', basis: 'convention' } as const;

const PLAIN: readonly Case[] = [
  { call: ['edit_file', 'path=src/main.rs'], text: 'Replaced text in src/main.rs', chosen: 0 },
  { call: ['echo', 'text=é \n😀'], text: 'é \n😀' },
  { call: ['big', 'bytes=30'], text: '0 is a piece; 1 is a piece; ..' },
  { call: ['slow', 'ms=120'], text: 'Finished after 120 ms' },
  {
    call: ['fail'],
    status: 5,
    outcome: { ...FAILED, message: 'API rate limit exceeded. Retry after 60 seconds.' },
    text: 'Error: API rate limit exceeded. Retry after 60 seconds.',
  },
  {
    call: ['lmkit', 'kind=denied'],
    status: 5,
    outcome: { type: 'denied', basis: 'convention', tool: '...', reason: '...' },
    text: '{"denied": {"tool": "...", "reason": "..."}}',
  },
  {
    call: ['json'],
    text: '{"instances":[{"id":"i-0abc123","state":"running","tags":{"team":"é","empty":{}}}],"serial":9007199254740993,"count":1,"count":2}',
  },
  {
    call: ['echo', '--no-validate'],
    status: 5,
    outcome: FAILED,
    text: 'Error: argument "text" is required. Correct it and call again.',
  },
];

const STDLIB: readonly Case[] = [
  { call: ['edit_file', 'path=src/main.rs', 'replace=2'], text: 'Replaced text in src/main.rs', chosen: 0 },
  { call: ['echo', 'text=Grüße'], text: 'Grüße' },
  { call: ['delete_all', '--yes'], text: 'Deleted all 3 files' },
  { call: ['ask', '--choose', '1'], text: 'Chosen: production', verdicts: ['holds 200', 'settles 200'] },
  { call: ['login', 'ms=10'], text: 'authorised', verdicts: ['holds 200', 'settles 200'] },
  {
    call: ['subscribe', 'ms=10', '--linger', '1s'],
    invoke: invokeJson,
    text: 'Subscribed',
    verdicts: ['settles 200', 'noted 200', 'noted 200', 'noted 200'],
  },
  { call: ['view'], text: 'View updated', verdicts: ['noted 200', 'settles 200'] },
];

describe.concurrent.each([
  ['plain-tool.mjs', () => plain, PLAIN],
  ['stdlib_tool.py', () => stdlib, STDLIB],
])('%s', (_, peer, cases) => {
  it.each(cases)(
    '$call',
    async ({ call, invoke = invokeJsonHere, status = 0, outcome, text, chosen = null, ...expected }) => {
      const ended = await invoke([peer().url, ...call]);
      const { report } = ended;
      expect({
        status: ended.status,
        outcome: report.outcome,
        text: report.llm?.text,
        chosen: report.display?.chosen,
        verdicts: verdicts(report),
        ids: warningIds(report),
      }).toMatchObject({
        status,
        outcome: outcome ?? { type: 'success', basis: 'assumed' },
        text,
        chosen,
        verdicts: expected.verdicts ?? ['settles 200'],
        ids: [],
      });
    },
  );
});

it.concurrent('8 MB of arguments reach a tool that acknowledges before it reads, whole', async () => {
  await using folder = await temporaryFolder();
  await using peer = await startPeer('plain');
  const text = '0123456789abcde\n'.repeat(524_288);
  const args = await folder.write('args.json', JSON.stringify({ text }));
  const { status, bytes } = await runHere(argv`invoke ${peer.url} echo --args @${args} -o text`);
  expect(status).toBe(0);
  expect(bytes.length).toBe(8 * 1024 * 1024);
  expect(bytes.equals(Buffer.from(text))).toBe(true);
  const invocation = await peer.seen('invocation');
  expect(invocation.raw.length).toBe(Number(invocation.headers['content-length']));
  expect(JSON.parse(invocation.raw).arguments.text.length).toBe(text.length);
});

it.concurrent('a destructive tool without --yes: nothing is sent, exit 6', async () => {
  const { status, report } = await invokeJsonHere(argv`${stdlib.url} delete_all --group-id never-sent`);
  expect(status).toBe(6);
  expect(report.error?.hint).toContain('--yes');
  const log = await stdlib.log();
  expect(log.filter(entry => fieldOf(entry, 'group_id') === 'never-sent')).toEqual([]);
});

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
    const { status, stdout } = await runHere(argv`invoke ${plain.url} slow ms=60000 --repeat 2 --timeout 2s`);
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
    expect(stdout).toContain('2 calls: 2 without a result');
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
