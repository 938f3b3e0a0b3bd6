import { describe, expect, test } from 'vitest';
import { REQUIREMENTS } from '../../../src/check/rules/all.js';
import { CHECK_FORMATS } from '../../../src/render/outputs/check.js';
import { unsafeIn } from '../../e2e/support/text.js';
import { GREEN, LONG_ID, LOOK, STORY, TOKEN } from './story-of.js';

const text = CHECK_FORMATS.human(STORY, LOOK);
const lines = text.split('\n');
const lineOf = (what: string | RegExp) => {
  const at = lines.findIndex(line => (typeof what === 'string' ? line === what : what.test(line)));
  expect(at, String(what)).toBeGreaterThanOrEqual(0);
  return at;
};

test('what is wrong comes first, the summary last', () => {
  const order = ['Failed', 'Warnings', 'Could not run', 'Expected failures', 'Passed', 'Not applicable'].map(
    lineOf,
  );
  expect(order).toEqual([...order].sort((a, b) => a - b));
  expect(lines.slice(-4)).toEqual([
    'Messages are shortened; full messages: protocol-cli render run.ndjson',
    '',
    '✗ failed · 10 rules: 3 passed, 1 failed, 1 passed, but expected to fail, 1 could not run, 1 with a warning, 1 failed as expected, 2 not applicable · 1 of 3 cases passed',
    '',
  ]);
});

test('a failure says what was due, what came, and how that was on the wire', () => {
  const at = lineOf(/^✗ TOOL-ID {2}MUST {2}sends id back unchanged$/);
  const told = lines.slice(at, at + 10).join('\n');
  expect(told).toContain('reason of TOOL-ID');
  expect(told).toMatch(/expected {2}call_abc123/);
  expect(told).toMatch(/actual {4}␛\[2Jevil/);
  expect(told).toContain('may also cause: TOOL-RETRY\n');
  expect(told).toContain('│ POST /callback/token → 200 after 0ms');
  expect(told).toContain('│   {"type":"tool_result", "group_id":"thread_xyz", "id":"other"');
});

test('each finding says which call it is about; of many calls the first', () => {
  expect(lines[lineOf(/^✗ TOOL-ID/) + 2]).toBe(`    call      edit_file · ${LONG_ID}`);
  const at = lineOf(/^\? TOOL-RETRY/);
  expect(lines.slice(at + 2, at + 6)).toEqual([
    '    calls     list · a',
    '              list · b',
    '              list · c',
    '              and 2 more',
  ]);
  expect(lines[lineOf(/c\.yaml:5/) + 2]).toMatch(/^ {4}call {6}␛\[2Jevil.* · no id$/);
});

test('what is broken says what to do about it, and nothing else does', () => {
  expect(lines[lineOf(/^✗ TOOL-ID/) + 7]).toBe(`    to do     ${REQUIREMENTS['TOOL-ID'].advice}`);
  expect(lines[lineOf(/^• TOOL-FALLBACK/) + 2]).toBe(`    to do     ${REQUIREMENTS['TOOL-FALLBACK'].advice}`);
  expect(text.match(/ to do /g)).toHaveLength(2);
});

describe.each([40, 60, 80])('on %i columns', width => {
  const rows = CHECK_FORMATS.human(STORY, { ...LOOK, width }).split('\n');
  const words = (of: string) => of.split(/\s+/);

  test('no row is wider, and none is empty that was not', () => {
    expect(rows.filter(row => row.length > width)).toEqual([]);
    expect(rows.filter(row => row === '')).toHaveLength(lines.filter(line => line === '').length);
  });

  test('no id of a rule is broken', () => {
    const isId = (word: string) => /^(?:TOOL|RT)-/.test(word);
    expect(words(rows.join('\n')).filter(isId)).toEqual(words(text).filter(isId));
  });

  test('what goes on stands below what it belongs to', () => {
    const at = rows.findIndex(row =>
      row.startsWith(`    to do     ${words(REQUIREMENTS['TOOL-ID'].advice)[0]}`),
    );
    expect(rows[at + 1]).toMatch(/^ {14}\S/);
  });
});

test('an expected failure that could not be seen is told, and where it is written', () => {
  expect(text).toContain(
    '· TOOL-CHOICE  is expected to fail\n    it did not apply: nothing asked (known.yaml:3)\n',
  );
});

test('row 24: nothing foreign acts; no line of a workflow begins in it', () => {
  expect(unsafeIn(text)).toEqual([]);
  expect(lines.filter(line => line.trimStart().startsWith('::'))).toEqual([]);
});

test('row 25: the token of a callback URL is nowhere', () => {
  expect(text).not.toContain(TOKEN);
});

test('no body is told whole', () => {
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(400);
});

test('-q leaves out what is fine, and keeps the summary', () => {
  const quiet = CHECK_FORMATS.human(GREEN, { ...LOOK, isQuiet: true });
  expect(quiet).toBe('check http://127.0.0.1:3001\n\n✓ passed · 4 rules: 4 passed\n');
});

test('colours, where they are asked for', () => {
  expect(CHECK_FORMATS.human(GREEN, { ...LOOK, level: 1 })).toContain('\u001b[32m✓ passed');
  expect(CHECK_FORMATS.human(GREEN, LOOK)).not.toContain('\u001b');
});
