import { describe, expect, test } from 'vitest';
import { type Callback, callbackSchema } from '../../../src/protocol/callbacks.js';
import { isCleared, messageLines } from '../../../src/render/saved-answers.js';
import { CHOICE, EVENT, KEY, OAUTH, RESULT, VIEW } from '../../events/build.js';
import { words } from '../../support/words.js';

const message = (value: object): Callback => callbackSchema.parse(value);
const linesOf = (value: object, isPrivate = false) => messageLines(message(value), isPrivate).map(words);

test.each([
  ['tool_result', RESULT, []],
  ['tool_result', { ...RESULT, subscription: true }, ['• opens a subscription; events follow']],
  ['view_update', VIEW, []],
  ['view_update', { ...VIEW, content: {} }, ['• content is empty; the view is cleared']],
])('%s is headed by its call and thread', (type, value, rest) => {
  const whose = type === 'view_update' ? '' : ` of call ${KEY}`;
  expect(linesOf(value)).toEqual([`${type}${whose} in thread thread_xyz`, ...rest]);
});

test('a call_id is told where there is one', () => {
  expect(linesOf({ ...RESULT, call_id: 'c9' })[0]).toBe(
    `tool_result of call ${KEY} (call_id c9) in thread thread_xyz`,
  );
  expect(linesOf({ ...RESULT, call_id: null })[0]).not.toContain('call_id');
});

describe('RT-OAUTH: a consent URL', () => {
  const value = { ...OAUTH, auth_url: 'https://auth.example/consent?state=secret' };

  test('is shown whole to the user alone', () => {
    expect(linesOf(value, true)[1]).toBe(
      '• visit https://auth.example/consent?state=secret to continue; the call stays pending',
    );
  });

  test('goes without its query into a file, which says so', () => {
    expect(linesOf(value).slice(1)).toEqual([
      '• visit https://auth.example/consent to continue; the call stays pending',
      '  the query is shown only on a terminal',
    ]);
  });

  test('that has no query loses nothing', () => {
    expect(linesOf(OAUTH)).toHaveLength(2);
  });
});

test('a question has its choices, the default one marked, and where the answer goes', () => {
  expect(linesOf(CHOICE).slice(1)).toEqual([
    '• the tool asks: Where to?',
    '  0 staging (default)',
    '  1 production',
    '  the selection goes to http://127.0.0.1:3001/…',
  ]);
  expect(linesOf(CHOICE, true).at(-1)).toContain(CHOICE.response_url);
});

test('a question of several lines is told on as many', () => {
  expect(linesOf({ ...CHOICE, prompt: 'Where to?\nSay so.\n' }).slice(1, 4)).toEqual([
    '• the tool asks: Where to?',
    '  Say so.',
    '  0 staging (default)',
  ]);
});

test.each([
  [{}, 'a child thread of thread_xyz as a call of receive_event'],
  [{ associative: true }, 'thread thread_xyz as a call of receive_event'],
  [{ final: true }, 'a child thread of thread_xyz as a call of receive_event; last event'],
])('an event with %o goes to %s', (fields, where) => {
  expect(linesOf({ ...EVENT, ...fields })[1]).toBe(`• goes to ${where}`);
});

test('threats, row 24: foreign words are safe to print', () => {
  const lines = linesOf({ ...CHOICE, prompt: '\u001b[2J', choices: ['\u202e', 'a\nb'] });
  expect(lines.join('')).toContain('␛[2J');
  expect(lines.join('')).toContain('<U+202E>');
  expect(lines.join('')).toContain('a␊b');
});

test('empty content clears a view', () => {
  expect([isCleared({}), isCleared({ patch: '' })]).toEqual([true, false]);
});
