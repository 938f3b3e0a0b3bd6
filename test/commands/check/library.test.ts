import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { checkTranscript, readTranscripts } from '../../../src/index.js';
import { temporaryFolder } from '../../e2e/support/folder.js';
import { runHere } from '../../e2e/support/in-process.js';
import { ROOT } from '../../e2e/support/program.js';

/** Fields that a report adds to a row, and those it omits. */
const ADDED = ['standing', 'statement', 'advice', 'evidence', 'runs'];

const saved = (name: string) => readFile(`${ROOT}fixtures/transcripts/${name}.ndjson`, 'utf8');
const without = (names: readonly string[], row: object) =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));

test('the library returns the same rows as the command line', async () => {
  await using folder = await temporaryFolder();
  const text = await saved('two-results');
  const { stdout } = await runHere(['check', await folder.write('all.ndjson', text), '--reporter', 'json']);
  const { checks } = await checkTranscript(readTranscripts(text.split('\n')));
  const own = JSON.parse(JSON.stringify(checks.map(row => without(['spots'], row))));
  expect(JSON.parse(stdout).checks.map((row: object) => without(ADDED, row))).toEqual(own);
  expect(own).toContainEqual(expect.objectContaining({ id: 'TOOL-ONCE', status: 'fail' }));
});

test('a finding in joined transcripts names the line of its call in the whole file', async () => {
  const text = (await saved('diff')) + (await saved('two-results'));
  const lines = text.split('\n');
  const { checks } = await checkTranscript(readTranscripts(lines));
  const [call] = checks.find(({ id }) => id === 'TOOL-ONCE')?.calls ?? [];
  expect(call?.operation).toBe('two_results');
  expect(JSON.parse(lines[(call?.line ?? 0) - 1] ?? '')).toMatchObject({
    kind: 'request',
    purpose: 'invocation',
  });
  expect(call?.line).toBeGreaterThan((await saved('diff')).split('\n').length);
});
