import { parse, type TestCase, type TestSuites } from 'junit2json';
import { expect, test } from 'vitest';
import { CHECK_FORMATS } from '../../../src/render/outputs/check.js';
import { unsafeIn } from '../../e2e/support/text.js';
import { GREEN, LONG_ID, LOOK, STORY, TOKEN } from './story-of.js';

/** As a maintained reader of JUnit's XML understands it. */
async function read(xml: string): Promise<TestSuites> {
  const suites = await parse(xml);
  if (!suites || !('testsuite' in suites)) throw new Error('no test suites');
  return suites;
}

const xml = CHECK_FORMATS.junit(STORY, LOOK);

async function casesOf(suite: string): Promise<readonly TestCase[]> {
  const { testsuite = [] } = await read(xml);
  return testsuite.find(({ name }) => name === suite)?.testcase ?? [];
}

async function caseOf(id: string): Promise<TestCase> {
  const found = (await casesOf('check.tool')).find(({ name }) => name?.startsWith(`${id} `));
  if (!found) throw new Error(`no test case for ${id}`);
  return found;
}

test('a suite for each side and one for the cases, with true counts', async () => {
  const { testsuite = [], ...all } = await read(xml);
  expect(all).toMatchObject({ tests: 13, failures: 3, errors: 2, skipped: 3 });
  expect(
    testsuite.map(({ name, tests, failures, errors, skipped }) => [name, tests, failures, errors, skipped]),
  ).toEqual([
    ['check.tool', 9, 2, 1, 3],
    ['check.runtime', 1, 0, 0, 0],
    ['check.cases', 3, 1, 1, 0],
  ]);
});

test('what is green has no suite for what was not there', async () => {
  const { testsuite = [], ...all } = await read(CHECK_FORMATS.junit(GREEN, LOOK));
  expect(all).toMatchObject({ tests: 4, failures: 0, errors: 0, skipped: 0 });
  expect(testsuite.map(({ name }) => name)).toEqual(['check.tool', 'check.runtime']);
});

test('the time of everything is the run, that of a test what it is judged by, in seconds', async () => {
  const { testsuite = [], time } = await read(xml);
  expect(time).toBe(0.009);
  expect(testsuite.map(suite => [suite.name, suite.time])).toEqual([
    ['check.tool', 0.009],
    ['check.runtime', 0],
    ['check.cases', 0.009],
  ]);
  expect([(await caseOf('TOOL-ACK')).time, (await caseOf('TOOL-CHOICE')).time]).toEqual([0.009, 0]);
  expect((await casesOf('check.cases')).map(each => each.time)).toEqual([0, 0.009, 0]);
});

test('a rule that is held is a test that passes', async () => {
  const passed = await caseOf('TOOL-ACK');
  expect(passed.classname).toBe('check.tool');
  for (const ending of ['failure', 'error', 'skipped'] as const) expect(passed[ending]).toBeUndefined();
});

test('a failure has its reason as message, and the whole of it as text', async () => {
  const { failure: [failure] = [] } = await caseOf('TOOL-ID');
  expect(failure).toMatchObject({ type: 'MUST', message: 'reason of TOOL-ID' });
  expect(failure?.inner).toContain('expected  call_abc123');
  expect(failure?.inner).toContain('POST /callback/token → 200');
});

test('a call has its whole id, since others search for it', async () => {
  const [failure] = (await caseOf('TOOL-ID')).failure ?? [];
  expect(failure?.inner).toContain(`call      edit_file · ${LONG_ID}\n`);
});

test('an expectation that is stale is a failure', async () => {
  const { failure: [failure] = [] } = await caseOf('TOOL-DIFF');
  expect(failure?.message).toBe('it passes but is expected to fail at known.yaml:2');
});

test('what could not run is an error', async () => {
  const { error: [error] = [] } = await caseOf('TOOL-RETRY');
  expect(error?.message).toBe('reason of TOOL-RETRY');
});

test('what does not apply, and what is expected to fail, is skipped', async () => {
  expect((await caseOf('TOOL-CHOICE')).skipped?.[0]?.message).toBe('nothing asked');
  expect((await caseOf('TOOL-NOLEAK')).skipped?.[0]?.message).toBe('expected: known since March');
});

test('a warning is output of a test that passes', async () => {
  const { failure, 'system-out': output } = await caseOf('TOOL-FALLBACK');
  expect(failure).toBeUndefined();
  expect(output?.join('')).toContain('TOOL-FALLBACK  SHOULD');
});

test('a case has its file and line', async () => {
  const [, failed] = await casesOf('check.cases');
  expect(failed).toMatchObject({ file: 'c.yaml', failure: [{ message: '$.text: wanted 1' }] });
  expect(xml).toContain('line="5"');
});

test('what is expected to fail, and could not, is output of the first suite', () => {
  expect(xml).toContain('<system-out>TOOL-CHOICE is expected to fail (known.yaml:3); it did not apply');
});

test('rows 24 and 25: nothing acts, nothing is told', () => {
  expect(unsafeIn(xml)).toEqual([]);
  expect(xml).not.toContain(TOKEN);
});
