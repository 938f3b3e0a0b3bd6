import { describe, expect, test } from 'vitest';
import { type Callback, callbackSchema } from '../../src/protocol/callbacks.js';
import { messageLines } from '../../src/render/callbacks.js';
import { CHOICE, OAUTH } from '../events/build.js';
import { words } from '../support/words.js';

const message = (value: object): Callback => callbackSchema.parse(value);
const linesOf = (value: object, isPrivate = false) => messageLines(message(value), isPrivate).map(words);

describe('RT-OAUTH: a consent URL', () => {
  const value = { ...OAUTH, auth_url: 'https://auth.example/consent?state=secret' };

  test('is shown whole to the user only', () => {
    expect(linesOf(value, true)[1]).toBe(
      '• visit https://auth.example/consent?state=secret to continue; the call stays pending',
    );
  });

  test('is written to a file without its query, with a remark', () => {
    expect(linesOf(value).slice(1)).toEqual([
      '• visit https://auth.example/consent to continue; the call stays pending',
      '  the query is shown only on a terminal',
    ]);
  });

  test('without a query is unchanged', () => {
    expect(linesOf(OAUTH)).toHaveLength(2);
  });
});

test('threats, row 24: foreign texts are safe to print', () => {
  const lines = linesOf({ ...CHOICE, prompt: '\u001b[2J', choices: ['\u202e', 'a\nb'] });
  expect(lines.join('')).toContain('␛[2J');
  expect(lines.join('')).toContain('<U+202E>');
  expect(lines.join('')).toContain('a␊b');
});
