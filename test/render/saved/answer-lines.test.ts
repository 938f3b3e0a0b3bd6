import { describe, expect, test } from 'vitest';
import { dialectOf, readAs } from '../../../src/dialects/dialects.js';
import type { JudgedOutcome } from '../../../src/protocol/outcome.js';
import { answerLines, besideLines, jsonLines, outcomeLines } from '../../../src/render/saved-answers.js';
import { readSound } from '../../dialects/contract.js';
import { words } from '../../support/words.js';

describe('an outcome says on which basis it stands', () => {
  test.each<[JudgedOutcome, string[]]>([
    [{ type: 'success', basis: 'assumed' }, ['✓ outcome success (assumed)']],
    [
      { type: 'error', message: 'no', code: 'E', errorType: 'T', basis: 'declared' },
      ['✗ outcome error (declared)', '    message  no', '    code  E', '    type  T'],
    ],
    [
      { type: 'timeout', durationMs: 5, basis: 'convention' },
      ['✗ outcome timeout (by convention)', '    duration in ms  5'],
    ],
    [{ type: 'denied', basis: 'ours' }, ['✗ outcome denied (local)']],
    [{ type: 'unknown', raw: 7, basis: 'declared' }, ['✗ outcome unknown (declared)', '    raw  7']],
    [
      { type: 'error', message: 'a\u001b\nb', basis: 'declared' },
      ['✗ outcome error (declared)', '    message  a␛␊b'],
    ],
  ])('%j', (outcome, lines) => {
    expect(outcomeLines(outcome).map(words)).toEqual(lines);
  });

  test('a long word is cut', () => {
    const [, message] = outcomeLines({ type: 'error', message: 'x'.repeat(10_000), basis: 'ours' });
    expect(words(message ?? []).length).toBeLessThan(400);
  });
});

test('its heading names the call and the tool, as far as they are known', () => {
  const heading = (native: object) =>
    words(answerLines('It', readSound(dialectOf('lmkit'), native))[0] ?? []);
  expect(heading({ Type: 0, ResultJson: '1', ToolCallId: 'c', ToolName: 't' })).toBe('It of call c by t');
  expect(heading({ Type: 0, ResultJson: '1' })).toBe('It');
});

test('what stands beside is JSON for the eye', () => {
  const native = { content: [], _meta: { a: 1 }, isError: false, later: 2 };
  const reading = readAs('mcp', native);
  expect(reading.ok && besideLines(reading).map(words)).toEqual([
    'META',
    '{',
    '  "a": 1',
    '}',
    'OTHER FIELDS',
    '{',
    '  "later": 2',
    '}',
  ]);
});

test('of much JSON only the first lines are shown', () => {
  const lines = jsonLines('MANY', Array(1_000).fill(0)).map(words);
  expect(lines).toHaveLength(42);
  expect(lines.at(-1)).toBe('… 962 more lines');
});
