import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/commands/command-line.js';
import { expectGolden, filesIn, printed } from './golden.js';

/** What the commands print without a saved run: of single messages, of fixtures, and their help (else: npm run goldens). */
describe.concurrent.each(filesIn('test/goldens/messages'))('$name', ({ name, file }) => {
  test('as lines, as JSON, and in other dialects', async ({ expect: expectHere }) => {
    const shown = [
      ['--width', '80'],
      ['--supports', 'text', '--width', '40'],
      ['-o', 'json'],
    ];
    const translated = ['rap', 'session', 'lmkit', 'mcp'].map(dialect => ['--as', dialect]);
    const text = await printed([...shown, ...translated].map(options => ['render', file, ...options]));
    await expectGolden(expectHere, `message-${name}`, text);
  });
});

const HELP: readonly (readonly string[])[] = [
  [],
  ...COMMANDS.map(({ name }) => [name]),
  ['session', 'mock'],
  ['session', 'answer'],
];

test.each(HELP.map(command => ({ command })))('help of $command', async ({ command }) => {
  const name = ['help', ...command].join('-');
  await expectGolden(expect, name, await printed([[...command, '--help']]));
});
