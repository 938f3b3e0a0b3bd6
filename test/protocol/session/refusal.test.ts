import { expect, test } from 'vitest';
import { refusalIn } from '../../../src/protocol/session.js';

test.each([
  [{ detail: 'Session not found.' }, 'Session not found.'],
  [{ message: 'no key' }, 'no key'],
  [{ detail: [{ loc: ['body', 'kind'], msg: 'is missing' }, 7] }, 'body.kind: is missing; 7'],
  [{ detail: Array(6).fill({ msg: 'x' }) }, 'x; x; x; x; x'],
  [{ detail: [{ toString: 1 }] }, '{"toString":1}'],
  [{ detail: [{ loc: ['a', { toString: 1 }], msg: { toString: 1 } }] }, 'a.{"toString":1}: {"toString":1}'],
  [{ detail: 7 }, ''],
  ['no object', ''],
])('%j: %j', (body, said) => {
  expect(refusalIn(body)).toBe(said);
});
