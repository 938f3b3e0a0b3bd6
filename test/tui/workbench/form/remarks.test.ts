import { expect, test } from 'vitest';
import { drawn, formFor, pressAll, valueIn } from './support/pressing.js';

const FORM = formFor({
  to: { type: 'string', format: 'email' },
  at: { type: 'array', items: { format: 'date', type: 'string' } },
});

test('what does not look as its format says is remarked once one has left it, and hinders nothing', () => {
  const typed = pressAll(FORM, 'nobody');
  expect(drawn(typed).slice(0, 2)).toEqual([
    '❯ to    nobody[ ]                                                     string email',
    '    format email',
  ]);
  const left = pressAll(typed, '<down>', '<enter>', '2025-02-30', '<down>');
  expect(drawn(left).filter(row => /•|✗|Run/.test(row))).toEqual([
    '    • does not look like an email (format)',
    '    • does not look like a date (format)',
    '  ▶ Run',
  ]);
  expect(left.arguments().ok).toBe(true);
  expect(valueIn(left)).toEqual({ to: 'nobody', at: ['2025-02-30'] });
});

test('nothing is remarked of what is empty, or as it should be', () => {
  const left = pressAll(FORM, 'someone@example.com', '<down>');
  for (const form of [left, pressAll(FORM, '<down>')]) expect(drawn(form).join('\n')).not.toContain('•');
});
