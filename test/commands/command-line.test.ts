import { afterEach, describe, expect, test, vi } from 'vitest';
import { COMMANDS, commandLine } from '../../src/commands/command-line.js';
import { temporaryFolder } from '../e2e/support/folder.js';
import { runHere } from '../e2e/support/in-process.js';

afterEach(() => vi.restoreAllMocks());

test.each([
  [['invoke', ':3001', 'session'], ['invoke']],
  [['help', 'invoke'], ['invoke']],
  [['--', 'invoke'], ['invoke']],
  [['session', 'mock'], ['session']],
  [['invoke', '--nope'], ['invoke']],
  [['--help'], []],
  [['help'], []],
  [['help', 'fixtures'], []],
  [['invok'], []],
  [['--nope'], []],
  [[], []],
])('the start loads only the command that is named: %j: %j', async (words, names) => {
  const loaded: string[] = [];
  for (const entry of COMMANDS) {
    const { load } = entry;
    vi.spyOn(entry, 'load').mockImplementation(() => {
      loaded.push(entry.name);
      return load();
    });
  }
  await commandLine(words, '1.2.3', async () => {}, false);
  expect(loaded).toEqual(names);
});

describe('an unknown command is named in the error', () => {
  test.each([
    ['before --help', ['rendr', '--help'], 'rendr', 'render'],
    ['after -h', ['-h', 'rendr'], 'rendr', 'render'],
    ['after --', ['--', 'rendr'], 'rendr', 'render'],
    ['as a subcommand, before --help', ['session', 'mok', '--help'], 'mok', 'mock'],
  ])('%s', async (_, words, unknown, meant) => {
    const stderr = `error: unknown command '${unknown}'\n(Did you mean ${meant}?)\n(add --help for usage and examples)\n`;
    expect(await runHere(words)).toMatchObject({ status: 2, stdout: '', stderr });
  });

  test.each([[['help']], [['help', 'session']], [['session', '--help']], [['session', 'mock', '--help']]])(
    'but not the help of existing ones: %j',
    async words => {
      expect(await runHere(words)).toMatchObject({
        status: 0,
        stdout: expect.stringMatching(/^Usage: /),
        stderr: '',
      });
    },
  );
});

test('a folder in place of a command is named', async () => {
  await using folder = await temporaryFolder();
  const stderr = `error: ${folder.path} is a folder, not a command or a file\nhint: Give a command, or a file to show. protocol-cli help lists the commands.\n`;
  expect(await runHere([folder.path])).toMatchObject({ status: 2, stdout: '', stderr });
});

test('an error of a subcommand points to its help', async () => {
  const stderr = "error: unknown option '--nope'\n(add --help for usage and examples)\n";
  expect(await runHere(['session', 'mock', '--nope'])).toMatchObject({ status: 2, stderr });
});

test('a file on a terminal: a transcript opens in the workbench, anything else full screen', async () => {
  await using folder = await temporaryFolder();
  const result = await folder.write('r.json', '{"type":"tool_result","group_id":"a","id":"b","text":"c"}');
  const wordsFor = async (words: readonly string[], isTerminal: boolean) =>
    (await commandLine(words, '1.2.3', async () => {}, isTerminal)).words;
  const transcript = await folder.write('t.ndjson', '{"kind":"header","format":"x"}');
  expect(await wordsFor([result], true)).toEqual(['render', result, '-o', 'ui']);
  expect(await wordsFor([transcript], true)).toEqual(['invoke', '--interactive', '--open', transcript]);
  expect(await wordsFor([result], false)).toEqual(['render', result]);
  expect(await wordsFor([result, '-o', 'json'], true)).toEqual(['render', result, '-o', 'json']);
  expect(await wordsFor(['render', result], true)).toEqual(['render', result]);
});
