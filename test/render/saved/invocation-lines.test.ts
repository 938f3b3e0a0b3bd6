import { expect, test } from 'vitest';
import { invocationLines, invocationSecrets } from '../../../src/render/saved-answers.js';
import { INVOCATION } from '../../events/build.js';
import { words } from '../../support/words.js';

const TOKEN = 'Zm9vYmFyYmF6cXV4';
const SECRET = {
  ...INVOCATION,
  callback_url: `http://127.0.0.1:4000/callback/${TOKEN}`,
  arguments: { note: `see ${TOKEN}`, path: 'a.txt' },
};

test('an invocation with all its fields', () => {
  const whole = { ...INVOCATION, call_id: 'c9', user_id: 'user_42', thread_ancestors: ['root', 'parent'] };
  expect(invocationLines(whole, false).map(words)).toEqual([
    'edit_file of call call_abc123 in thread thread_xyz',
    'call_id   c9',
    'ancestors root → parent',
    'user      user_42',
    'callback  http://127.0.0.1:4000/…',
    '',
    'ARGUMENTS',
    '{',
    '  "path": "src/main.rs"',
    '}',
  ]);
});

test('the token of its callback URL is for the user alone, in the arguments too', () => {
  const shown = (isPrivate: boolean) => invocationLines(SECRET, isPrivate).map(words).join('\n');
  expect(shown(true)).toContain(`http://127.0.0.1:4000/callback/${TOKEN}`);
  expect(shown(false)).not.toContain(TOKEN);
  expect(shown(false)).toContain('see [redacted]');
  expect(invocationSecrets(SECRET).text(JSON.stringify(SECRET))).not.toContain(TOKEN);
});
