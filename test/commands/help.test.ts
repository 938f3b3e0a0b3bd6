import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { COMMANDS, commandLine } from '../../src/commands/command-line.js';

async function loaded({ load }: (typeof COMMANDS)[number]): Promise<Command> {
  return (await load())(async () => {});
}

async function helpOf(name: string): Promise<string> {
  const entry = COMMANDS.find(each => each.name === name);
  let help = '';
  if (entry) (await loaded(entry)).configureOutput({ writeOut: text => (help += text) }).outputHelp();
  return help;
}

test.each(COMMANDS.map(({ name }) => name))('the help of %s has examples that call it', async name => {
  const lines = (await helpOf(name)).match(/(?<=^ {2}# .+\n {2}).+$/gm) ?? [];
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines) expect(line).toMatch(new RegExp(`(^|\\| )protocol-cli ${name}(?: |$)`));
});

test.each(COMMANDS.map(entry => [entry.name, entry] as const))(
  '%s is listed by the name of its definition, whose paragraphs have no manual line breaks',
  async (name, entry) => {
    const command = await loaded(entry);
    expect(command.name()).toBe(name);
    expect(command.description()).not.toMatch(/[^.]\n/); // paragraphs are wrapped to the width of the terminal
  },
);

test.each([
  ['toolset', true],
  ['check', true],
  ['record', false], // a signal is the normal end of a server
])('the help of %s lists the exit statuses of signals: %s', async (name, isListed) => {
  expect(/\n {2}129 .*\n {2}130 .*\n {2}143 /.test(await helpOf(name))).toBe(isListed);
});

test('the help of the program fits 80 columns, and has examples of existing commands', async () => {
  const { program } = await commandLine(['--help'], '1.2.3', async () => {}, false);
  let help = '';
  program.configureOutput({ writeOut: text => (help += text) }).outputHelp();
  expect(help.split('\n').filter(row => row.length > 80)).toEqual([]);
  const named = help.match(/(?<=^ {2}protocol-cli )[a-z-]+/gm) ?? [];
  expect(named.length).toBeGreaterThan(2);
  expect(['help', ...COMMANDS.map(({ name }) => name)]).toEqual(expect.arrayContaining(named));
});
