import { parse } from 'junit2json';
import { expect, test } from 'vitest';
import { CHECK_FORMATS } from '../../../src/render/outputs/check.js';
import { unsafeIn } from '../../e2e/support/text.js';
import { GREEN, LOOK, LOSSY } from './story-of.js';

/** What was lost may hide a breach: no report may look green then. */
const { human, json, junit, github, markdown } = CHECK_FORMATS;

test('a person is told each place, and in the summary that there are some', () => {
  const text = human(LOSSY, LOOK);
  expect(text).toMatch(
    /Incomplete recording; violations may be missed\n\? run\.ndjson:7\n {4}not valid JSON[^\n]*\n\? run\.ndjson:9/,
  );
  expect(text).toMatch(/\? incomplete · 4 rules: 4 passed · 2 gaps in the recording\n$/);
  expect(human(LOSSY, { ...LOOK, isQuiet: true })).toContain('run.ndjson:9');
});

test('json has a list of them, empty where nothing is lost', () => {
  const { verdict, gaps } = JSON.parse(json(LOSSY, LOOK));
  expect(verdict).toBe('incomplete');
  expect(gaps[1]).toEqual({ place: 'run.ndjson:9', reason: '2 events are missing before it' });
  expect(JSON.parse(json(GREEN, LOOK)).gaps).toEqual([]);
});

test('junit has an error for each, at its line', async () => {
  const suites = await parse(junit(LOSSY, LOOK));
  if (!suites || !('testsuite' in suites)) throw new Error('no test suites');
  expect(suites).toMatchObject({ tests: 6, failures: 0, errors: 2 });
  const { testcase = [] } = suites.testsuite?.find(({ name }) => name === 'check.gaps') ?? {};
  expect(testcase[1]).toMatchObject({ classname: 'check.gaps', file: 'run.ndjson' });
  expect(testcase[1]?.error?.[0]).toMatchObject({ type: 'gap', message: '2 events are missing before it' });
});

test('github has an error for each, at its line', () => {
  const lines = github(LOSSY, LOOK).split('\n');
  expect(lines).toContain(
    '::error file=run.ndjson,line=9,title=incomplete recording; violations may be missed::run.ndjson:9: 2 events are missing before it',
  );
  expect(lines.filter(line => line.startsWith('::error '))).toHaveLength(2);
});

test('markdown has a table of them', () => {
  expect(markdown(LOSSY, LOOK)).toContain('| run.ndjson:9 | 2 events are missing before it |');
  expect(markdown(GREEN, LOOK)).not.toContain('lost');
});

test('markdown, and so the summary of a job, has what was worth a word', () => {
  const warned = { ...GREEN, warnings: ['odd | <b>'] };
  expect(markdown(warned, LOOK)).toContain('\n- ⚠️ odd &#124; &#60;b&#62;\n');
});

test('row 24: what was read is quoted safely', () => {
  for (const format of Object.values(CHECK_FORMATS)) expect(unsafeIn(format(LOSSY, LOOK))).toEqual([]);
});
