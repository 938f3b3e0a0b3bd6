import { describe, expect, test } from 'vitest';
import type { Check } from '../../../src/check/report.js';
import { startMockTool } from '../../../src/mock/mock-tool.js';
import { peculiarTool } from '../../peers/tools/peculiar.mjs';
import { checking, findingsIn } from '../support/checking.js';
import { temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { servePeer } from '../support/serve-peer.js';

/** What a check says of right tools whose framework has a peculiarity of its own. */

type Findings = Readonly<Record<string, readonly [Check['status'], string]>>;

const summaryOf = (checks: readonly Check[]): Findings =>
  Object.fromEntries(checks.map(({ id, status, reason }) => [id, [status, reason]]));

async function startPeculiar(PECULIARITY: string) {
  const peer = await servePeer(peculiarTool({ PECULIARITY }));
  return { url: peer.url, [Symbol.asyncDispose]: peer.stop };
}

async function checkingPeculiar(peculiarity: string): Promise<readonly Check[]> {
  await using peer = await startPeculiar(peculiarity);
  return await checking(peer.url);
}

/** What a mistake costs that this program tolerates. */
const REFUSED = 'strict runtimes, such as the reference, refuse it: the whole';

describe.concurrent('a right tool', () => {
  test.each<[string, Findings]>([
    ['', {}],
    ['normalizes-escapes', {}],
    [
      'decodes-query',
      {
        'TOOL-OPAQUE': [
          'fail',
          'a callback went to a URL other than the given one: the encoding of its query was changed',
        ],
      },
    ],
    ['refuses-prototypes', {}],
    [
      'byte-order-mark',
      { 'TOOL-POST': ['warn', `the body starts with a byte-order mark; ${REFUSED} result is lost`] },
    ],
    [
      'null-migration',
      {
        'TOOL-DISCOVER': [
          'warn',
          `null counts as absent for an optional member; leave it out instead: $.needsMigration; ${REFUSED} toolset is lost`,
        ],
      },
    ],
    [
      'refuses-unknown',
      { 'TOOL-EXTRA': ['warn', 'answered 400 to unknown members, and 200 without them: x-unknown, version'] },
    ],
    [
      'fails-on-unknown',
      { 'TOOL-EXTRA': ['warn', 'answered 500 to unknown members, and 200 without them: x-unknown, version'] },
    ],
    [
      'reports-unknown',
      {
        'TOOL-EXTRA': [
          'warn',
          'a call ended in an error, and succeeded without these members: x-unknown, version',
        ],
      },
    ],
    [
      'reports-version',
      { 'TOOL-EXTRA': ['warn', 'a call ended in an error, and succeeded without these members: version'] },
    ],
  ])('%s', async (peculiarity, expected) => {
    expect(summaryOf(findingsIn(await checkingPeculiar(peculiarity)))).toEqual(expected);
  });
});

test('a key that can pollute a prototype is named in a note if the tool refuses it', async () => {
  const checks = await checkingPeculiar('refuses-prototypes');
  expect(checks.find(({ id }) => id === 'TOOL-EXTRA')).toMatchObject({
    status: 'pass',
    isRemarkable: true,
    reason:
      'answered 400 to a member that can pollute a prototype, which is no fault: constructor, __proto__',
  });
});

test('a tool that refuses members that the protocol defines breaks TOOL-ACK', async () => {
  const checks = await checkingPeculiar('refuses-optional');
  const findings = summaryOf(findingsIn(checks));
  expect(findings['TOOL-ACK']).toEqual([
    'fail',
    expect.stringMatching(
      /^answered 500 to members that the protocol defines, and 200 without them: call_id, user_id, thread_ancestors/,
    ),
  ]);
  expect(findings['TOOL-EXTRA']).toEqual(['warn', expect.stringMatching(/^answered 500 to unknown members/)]);
  const others = Object.entries(findings).filter(([id]) => id !== 'TOOL-EXTRA' && id !== 'TOOL-ACK');
  expect(others.filter(([, [status]]) => status !== 'could-not-run')).toEqual([]);
});

test('a tool that takes longer than the check waits is not accused: TOOL-ALWAYS could not run', async () => {
  const tool = {
    name: 'look',
    description: 'Looks',
    inputSchema: { type: 'object' },
    annotations: { readOnly: true },
  };
  const fixtures = [{ match: { operation: 'look' }, reply: [{ payload: 'seen', delay: '1s' }] }];
  const file = { version: 1, toolset: { name: 'slow', tools: [tool] }, fixtures };
  await using mock = await startMockTool({ fixtures: file });
  const { stdout } = await runHere(['check', mock.url, '--probe-timeout', '300ms', '--reporter', 'json']);
  const row = JSON.parse(stdout).checks.find(({ id }: { readonly id: string }) => id === 'TOOL-ALWAYS');
  expect(row).toMatchObject({
    status: 'could-not-run',
    reason: expect.stringMatching(
      /^no result within 300ms, but others of this operation came after up to .*: raise --probe-timeout/,
    ),
  });
});

test('no finding is the cause of another one that no evidence connects to it', async () => {
  await using peer = await startPeculiar('one-route');
  const { stdout } = await runHere(['check', peer.url, '-q', '--probe-timeout', '2s']);
  const found = [...stdout.matchAll(/^[✗•] (TOOL-\S+)/gm)].map(([, id]) => id);
  expect(found).toEqual(['TOOL-MALFORMED', 'TOOL-CANCEL', 'TOOL-CLOSE']);
  expect(stdout).not.toMatch(/cause|another rule failed/);
});

test('a result that has content alone is shown as the model gets it', async () => {
  await using peer = await startPeculiar('content-alone');
  const { status, stdout } = await runHere(['check', peer.url, '--only', 'tool-post', '-q']);
  expect(status).toBe(0);
  expect(stdout).toContain('    the result has content but no text, which older runtimes require\n');
  expect(stdout).toMatch(/│ {3}content\[0\]\.text {2}"\w+"\n/);
});

test('TOOL-OPAQUE shows the given and the used end of the URL and what to do, live and in a transcript, without the token', async () => {
  await using peer = await startPeculiar('decodes-query');
  await using folder = await temporaryFolder();
  const file = `${folder.path}/run.ndjson`;
  const only = ['--only', 'tool-opaque', '-q'];
  const live = await runHere(['check', peer.url, ...only, '--save', file]);
  const saved = await runHere(['check', file, ...only]);
  for (const { stdout } of [live, saved]) {
    expect(stdout).toContain('    expected  /callback/<token>?token=3f1c&next=%2Fa%3Fb%3Dc&empty=\n');
    expect(stdout).toContain('    actual    /callback/<token>?token=3f1c&next=/a?b%3Dc&empty=\n');
    expect(stdout).toContain('│ POST /callback/[redacted]?token=3f1c&next=/a?b%3Dc&empty= → 200');
    expect(stdout).toMatch(/^ {4}to do .*with aiohttp, pass yarl\.URL\(url, encoded=True\)\.$/m);
    expect(stdout).not.toMatch(/callback\/[\w-]{43}/);
  }
});

describe.concurrent('the decisive part of a refusal is in the finding, and in the error of a call', () => {
  test.each([
    ['redirects-to-slash', 307, 'it redirects to /invoke/, with a slash at the end'],
    ['refuses-posts', 403, 'Forbidden (403) CSRF verification failed. Request aborted.'],
    ['requires-user', 422, 'body.user_id: Field required'],
  ])('%s', async (peculiarity, status, text) => {
    await using peer = await startPeculiar(peculiarity);
    const checked = await runHere(['check', peer.url, '--only', 'tool-ack', '--reporter', 'junit']);
    expect(checked.stdout).toContain(`message="answered ${status}: ${text} (`);
    const called = await runHere(['invoke', peer.url, 'echo', 'text=hi']);
    expect(called.stderr).toContain(`it answered ${status} instead of 200: ${text}\n`);
    expect(`${checked.stdout}${called.stderr}`).not.toContain('credentials');
  });
});
