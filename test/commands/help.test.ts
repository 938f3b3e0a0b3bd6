import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { COMMANDS, commandLine } from '../../src/commands/command-line.js';
import { EXIT_STATUSES, type ExitStatus } from '../../src/commands/terminal.js';

async function loaded({ load }: (typeof COMMANDS)[number]): Promise<Command> {
  return (await load())(async () => {});
}

async function helpOf(name: string): Promise<string> {
  const entry = COMMANDS.find(each => each.name === name);
  let help = '';
  if (entry) (await loaded(entry)).configureOutput({ writeOut: text => (help += text) }).outputHelp();
  return help;
}

describe.each([
  ['invoke', [0, 2, 4, 5, 6, 7, 130]],
  ['mock-tool', [0, 1, 2]],
  ['toolset', [0, 2, 4]],
  ['render', [0, 2]],
  ['check', [0, 1, 2, 3, 4, 130]],
  ['listen', [0, 2, 7]],
  ['record', [0, 2]],
  ['cancel', [0, 2, 4, 130]],
  ['close-thread', [0, 2, 4, 130]],
  ['migrate', [0, 2, 4, 130]],
] as const)('the help of %s', async (name, statuses) => {
  const help = await helpOf(name);

  test('has examples that call it', () => {
    const lines = help.match(/(?<=^ {2}# .+\n {2}).+$/gm) ?? [];
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(line).toMatch(new RegExp(`(^|\\| )protocol-cli ${name} `));
  });

  test('lists its exit statuses, as worded in the table', () => {
    for (const status of statuses)
      expect(help).toContain(`${status}  ${EXIT_STATUSES[status as ExitStatus]}`);
  });

  test('describes every option', () => {
    const options = help.match(/^ {2}(-\w, )?--[a-z-]+.*$/gm) ?? [];
    expect(options.length).toBeGreaterThan(3);
    for (const option of options) expect(option).toMatch(/\S {2,}\S|^ {2}\S+( <[^>]+>)?$/);
  });
});

test.each(COMMANDS.map(entry => [entry.name, entry] as const))(
  '%s is listed by the name of its definition, whose paragraphs have no manual line breaks',
  async (name, entry) => {
    const command = await loaded(entry);
    expect(command.name()).toBe(name);
    expect(command.description()).not.toMatch(/[^.]\n/); // paragraphs are wrapped to the width of the terminal
  },
);

test('the help of session has examples of both its commands', async () => {
  const help = await helpOf('session');
  for (const name of ['mock', 'answer']) expect(help).toContain(`  protocol-cli session ${name} `);
});

test('the help of the program fits 80 columns, and has examples of existing commands', async () => {
  const words = ['--help'];
  const program = await commandLine(words, '1.2.3', async () => {});
  let help = '';
  program.configureOutput({ writeOut: text => (help += text) }).outputHelp();
  expect(help.split('\n').filter(row => row.length > 80)).toEqual([]);
  const named = help.match(/(?<=^ {2}protocol-cli )[a-z-]+/gm) ?? [];
  expect(named.length).toBeGreaterThan(2);
  expect(['help', ...COMMANDS.map(({ name }) => name)]).toEqual(expect.arrayContaining(named));
});
