import { expect, test } from 'vitest';
import { mockCommand, SESSION_MOCK_EXAMPLES } from '../../../../src/commands/session/command.js';
import { EXIT_STATUSES } from '../../../../src/commands/terminal.js';

function help(): string {
  let text = '';
  mockCommand(async () => {})
    .configureOutput({ writeOut: words => (text += words) })
    .outputHelp();
  return text;
}

test('the help holds every example, which is a call of it', () => {
  for (const { about, line } of SESSION_MOCK_EXAMPLES) {
    expect(help()).toContain(`  # ${about}\n  ${line}\n`);
    expect(line).toMatch(/^protocol-cli session mock /);
  }
});

test('the help holds its exit statuses, in the words of the table', () => {
  for (const status of [0, 1, 2] as const) expect(help()).toContain(`${status}  ${EXIT_STATUSES[status]}`);
});

test('no line of the description is wider than a terminal', () => {
  const [, description = ''] = help().split('\n\n');
  for (const line of description.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  expect(description.split('\n').at(-1)).toBe(
    'In a pipe, the first line is {"port":N,"url":"…","key":"…","session":"…"}.',
  );
});
