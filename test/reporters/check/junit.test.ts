import { parse, type TestCase, type TestSuites } from 'junit2json';
import { expect, test } from 'vitest';
import { CHECK_FORMATS } from '../../../src/render/outputs/check.js';
import { unsafeIn } from '../../e2e/support/text.js';
import { LOOK, STORY, TOKEN } from './story-of.js';

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

test('rows 24 and 25: nothing acts, nothing is reported', () => {
  expect(unsafeIn(xml)).toEqual([]);
  expect(xml).not.toContain(TOKEN);
});
