import { expect, test } from 'vitest';
import { callbackSchema } from '../../src/protocol/callbacks.js';
import { messageLines } from '../../src/render/callbacks.js';
import { CHOICE } from '../events/build.js';
import { words } from '../support/words.js';

test('threats, row 24: foreign texts are safe to print', () => {
  const choice = { ...CHOICE, prompt: '\u001b[2J', choices: ['\u202e', 'a\nb'] };
  const text = messageLines(callbackSchema.parse(choice)).map(words).join('');
  expect(text).toContain('␛[2J');
  expect(text).toContain('<U+202E>');
  expect(text).toContain('a␊b');
});
