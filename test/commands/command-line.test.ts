import { Command, CommanderError } from 'commander';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CommandEntry,
  commandLine,
  EXAMPLES,
  refusingUnknown,
  wordsForFile,
} from '../../src/commands/command-line.js';
import { examplesText, type RunCommand } from '../../src/commands/options.js';
import { temporaryFolder } from '../e2e/support/folder.js';

/** A command, and one with subcommands; each records its arguments. */
const DEFINITIONS = {
  call: (say: (line: string) => void) =>
    new Command('call')
      .description('Calls.')
      .argument('[words...]')
      .option('--yes')
      .option('-5')
      .action((words, options) => say(`call ${JSON.stringify([words, options])}`)),
  session: (say: (line: string) => void) =>
    new Command('session')
      .description('Sessions.')
      .addCommand(new Command('mock').argument('[file]').action(file => say(`mock ${file}`)))
      .addCommand(new Command('call').option('--yes').action(() => say('answered a call'))),
} as const;

const NAMES = ['call', 'session'] as const;

interface Seen {
  readonly said: string[];
  readonly loaded: string[];
  error: string | null;
}

const neverRun: RunCommand = () => Promise.reject(new Error('these commands only say that they were called'));

async function lazily(words: readonly string[]): Promise<Seen> {
  const seen: Seen = { said: [], loaded: [], error: null };
  const entries = NAMES.map(
    (name): CommandEntry => ({
      name,
      summary: `the summary of ${name}`,
      load: async () => {
        seen.loaded.push(name);
        return () => DEFINITIONS[name](line => seen.said.push(line));
      },
    }),
  );
  return parsed(await commandLine(words, '1.2.3', neverRun, { entries, guides: [] }), words, seen);
}

/** Loads every command at the start, as commander does. */
async function atOnce(words: readonly string[]): Promise<Seen> {
  const seen: Seen = { said: [], loaded: [...NAMES], error: null };
  const program = new Command('protocol-cli')
    .description(
      'Tests tools that talk to AI agents over asynchronous HTTP.\nAlone, on a terminal, it opens the workbench.',
    )
    .configureHelp({ subcommandTerm: command => command.name() })
    .addHelpText('after', examplesText(EXAMPLES))
    .version('1.2.3')
    .showHelpAfterError('(add --help for usage and examples)')
    .exitOverride();
  for (const name of NAMES) {
    const command = DEFINITIONS[name](line => seen.said.push(line)).summary(`the summary of ${name}`);
    for (const each of [command, ...command.commands]) each.copyInheritedSettings(program);
    program.addCommand(command);
  }
  return parsed(refusingUnknown(program), words, seen);
}

async function parsed(program: Command, words: readonly string[], seen: Seen): Promise<Seen> {
  const output = {
    writeOut: (text: string) => seen.said.push(text),
    writeErr: (text: string) => seen.said.push(text),
  };
  const all = [program, ...program.commands, ...program.commands.flatMap(({ commands }) => commands)];
  for (const command of all) command.configureOutput(output);
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    seen.error = error.code;
  }
  return seen;
}

describe('the start loads only the command that is named', () => {
  test.each([
    [['call', ':3001', 'session'], ['call']],
    [['help', 'call'], ['call']],
    [['--', 'call'], ['call']],
    [['session', 'call'], ['session']],
    [['call', '--nope'], ['call']],
    [['--help'], []],
    [['help'], []],
    [['cal'], []],
    [['--nope'], []],
    [[], []],
  ])('%j: %j', async (words, loaded) => {
    expect((await lazily(words)).loaded).toEqual(loaded);
  });
});

describe('an unknown command', () => {
  const unknown = "error: unknown command 'cal'\n(Did you mean call?)\n";

  test.each([
    ['alone', ['cal']],
    ['before --help', ['cal', '--help']],
    ['after -h', ['-h', 'cal']],
    ['after help', ['help', 'cal']],
    ['as a subcommand', ['session', 'cal', '--help']],
  ])('is named in the error: %s', async (_, words) => {
    const { said, error } = await lazily(words);
    expect(said.join('')).toBe(`${unknown}(add --help for usage and examples)\n`);
    expect(error).toBe('commander.unknownCommand');
  });

  test('gets the help of the existing commands', async () => {
    for (const words of [
      ['--help'],
      ['help'],
      ['call', '--help'],
      ['help', 'session'],
      ['session', '--help'],
    ])
      expect((await lazily(words)).error).toMatch(/^commander\.help/);
  });
});

describe('lazy loading', () => {
  test('gives the same output as loading every command', async () => {
    const word = fc.constantFrom(
      ...[
        'call',
        'session',
        'mock',
        'help',
        'cal',
        'a',
        '',
        '-',
        '--',
        '-5',
        '-x',
        '--yes',
        '--nope',
        '--hel',
      ],
      ...['-h', '--help', '-V', '--version'],
    );
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 5 }), async words => {
        const { said, error } = await lazily(words);
        const usual = await atOnce(words);
        expect({ said, error }).toEqual({ said: usual.said, error: usual.error });
      }),
      { numRuns: 300 },
    );
  });
});

describe('a command with subcommands', () => {
  test('runs them', async () => {
    expect((await lazily(['session', 'mock', 'a.yaml'])).said).toEqual(['mock a.yaml']);
    expect((await lazily(['session', 'call'])).said).toEqual(['answered a call']);
  });

  test('lists them by name', async () => {
    const { said, error } = await lazily(['session', '--help']);
    expect(said.join('')).toMatch(/^ {2}mock$/m);
    expect(said.join('')).toMatch(/^ {2}call$/m);
    expect(error).toBe('commander.helpDisplayed');
  });

  test('throws their errors, with a pointer to the help', async () => {
    const { said, error } = await lazily(['session', 'mock', '--nope']);
    expect(error).toBe('commander.unknownOption');
    expect(said.join('')).toContain('(add --help for usage and examples)');
  });
});

test('a file on a terminal: a transcript opens in the workbench, anything else full screen', async () => {
  await using folder = await temporaryFolder();
  const result = await folder.write('r.json', '{"type":"tool_result","group_id":"a","id":"b","text":"c"}');
  const transcript = await folder.write('t.ndjson', '{"kind":"header","format":"x"}');
  expect(await wordsForFile([result], ['render'], true)).toEqual(['render', result, '-o', 'ui']);
  expect(await wordsForFile([transcript], ['render'], true)).toEqual([
    'invoke',
    '--interactive',
    '--open',
    transcript,
  ]);
  expect(await wordsForFile([result], ['render'], false)).toEqual(['render', result]);
  expect(await wordsForFile([result, '-o', 'json'], ['render'], true)).toEqual([
    'render',
    result,
    '-o',
    'json',
  ]);
  expect(await wordsForFile(['render', result], ['render'], true)).toEqual(['render', result]);
});
