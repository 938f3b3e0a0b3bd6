import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { ROOT } from '../support/program.js';

const GOOD = `${ROOT}fixtures/transcripts/diff.ndjson`;
const BAD = readFileSync(GOOD, 'utf8').replaceAll(/("kind":"response"[^\n]*"status":)200/g, '$1201');

/** Checks a transcript in which each 200 is a 201, or the good one. */
async function check(folder: Folder, what: 'bad' | 'good', known: string, ...options: readonly string[]) {
  const file = what === 'good' ? GOOD : await folder.write('bad.ndjson', BAD);
  return runHere([
    'check',
    file,
    '--only',
    'TOOL-ACK',
    '--only',
    'TOOL-ONCE',
    '--expected-failures',
    known,
    ...options,
  ]);
}

test('--update creates the file with what fails; then the check passes without it', async () => {
  await using folder = await temporaryFolder();
  const known = folder.file('known.yaml');
  const { status, stderr, stdout } = await check(folder, 'bad', known, '--update');
  expect({ status, stderr }).toEqual({ status: 0, stderr: `${known}: 1 failure added, 0 removed\n` });
  expect(stdout).not.toContain('✗');
  expect(await readFile(known, 'utf8')).toMatch(/^TOOL-ACK: .*201.*\n$/);
  expect((await check(folder, 'bad', known)).status).toBe(0);
  expect((await check(folder, 'good', known)).status).toBe(1);
});

describe.each(['--update', '--prune'])('%s removes what passes', option => {
  test.each([
    [
      'known.yaml',
      '# ours\n\nTOOL-ACK: slow proxy\nTOOL-RETRY: no queue # issue 12\n',
      '# ours\n\nTOOL-RETRY: no queue # issue 12\n',
    ],
    [
      'list.yaml',
      '- { id: TOOL-ACK, reason: slow proxy }\n- id: TOOL-RETRY # issue 12\n  reason: no queue\n',
      '- id: TOOL-RETRY # issue 12\n  reason: no queue\n',
    ],
    [
      'known.json',
      '{"TOOL-ACK": "slow proxy", "TOOL-RETRY": "no queue"}',
      '{\n  "TOOL-RETRY": "no queue"\n}\n',
    ],
    ['list.json', '[{"id": "TOOL-ACK", "reason": "slow proxy"}]', '[]\n'],
  ])('from %s, and nothing else', async (name, before, after) => {
    await using folder = await temporaryFolder();
    const known = await folder.write(name, before);
    const { status, stderr } = await check(folder, 'good', known, option);
    expect(status).toBe(0);
    expect(stderr).toContain(`${known}: 0 failures added, 1 removed\n`);
    expect(await readFile(known, 'utf8')).toBe(after);
  });
});

test.each([
  ['list.yaml', '- { id: TOOL-RETRY, reason: no queue }\n', /TOOL-RETRY[\s\S]*id: TOOL-ACK/],
  [
    'known.json',
    '{"TOOL-RETRY": "no queue"}',
    /^\{\n {2}"TOOL-RETRY": "no queue",\n {2}"TOOL-ACK": ".*201.*"\n\}\n$/,
  ],
  ['list.json', '[{"id": "TOOL-RETRY", "reason": "no queue"}]', /"id": "TOOL-ACK",\n {4}"reason": ".*201/],
])('--update adds a failure to %s', async (name, before, after) => {
  await using folder = await temporaryFolder();
  const known = await folder.write(name, before);
  expect((await check(folder, 'bad', known, '--update')).status).toBe(0);
  expect(await readFile(known, 'utf8')).toMatch(after);
});

test('--prune adds nothing, and a file without changes is not written', async () => {
  await using folder = await temporaryFolder();
  const known = await folder.write('known.yaml', 'TOOL-RETRY:   no queue\n');
  expect((await check(folder, 'bad', known, '--prune')).status).toBe(1);
  expect(await readFile(known, 'utf8')).toBe('TOOL-RETRY:   no queue\n');
});

test.each(['--update', '--prune'])('%s needs a file', async option => {
  await using folder = await temporaryFolder();
  expect((await runHere(['check', GOOD, option])).stderr).toBe(
    `error: ${option} needs --expected-failures <file>\n`,
  );
  const missing = folder.file('missing.yaml');
  expect((await check(folder, 'good', missing, '--prune')).status).toBe(2);
  expect(existsSync(missing)).toBe(false);
});
