import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Folder, temporaryFolder } from '../e2e/support/folder.js';
import { type OwnTool, startTool } from '../e2e/support/own-tool.js';
import { run, shellLine } from '../e2e/support/program.js';
import { openShell, type Screen } from './support/screen.js';

/** Completion as a user meets it: the tab key in real shells, set up as the help of `completion` says. */

const CLEAR_LINE = '\u0015';

interface Shell {
  readonly name: string;
  /** Where the script goes, and what stands before it there. */
  readonly script: readonly [path: string, before: string];
  /** Other files of the home folder. */
  readonly files?: Readonly<Record<string, string>>;
  readonly start: string;
}

const SHELLS: readonly Shell[] = [
  { name: 'bash', script: ['.bashrc', "PS1='> '\n"], start: 'bash --noprofile -i' },
  { name: 'zsh', script: ['.zshrc', "PS1='> '\n"], start: 'zsh -i' },
  {
    name: 'fish',
    script: ['.config/fish/completions/protocol-cli.fish', ''],
    files: {
      '.config/fish/config.fish':
        "set -g fish_greeting\nset -g fish_autosuggestion_enabled 0\nfunction fish_prompt; echo -n '> '; end\n",
    },
    start: 'fish -i',
  },
];

function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ['-c', ':'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

let tool: OwnTool;

beforeAll(async () => {
  const schema = { type: 'object', properties: { path: { type: 'string' }, 'x$(touch planted)': {} } };
  const callbacks = () => [];
  tool = await startTool({
    edit_file: { inputSchema: schema, callbacks },
    '--yes': { inputSchema: schema, callbacks },
  });
});

afterAll(() => tool[Symbol.asyncDispose]());

/** A home folder with the program on the PATH, two files, and the names of the tool. */
async function homeOf({ name, script: [path, before], files = {} }: Shell): Promise<Folder> {
  const home = await temporaryFolder();
  const write = async (file: string, text: string, mode = 0o644) => {
    await mkdir(dirname(home.file(file)), { recursive: true });
    await writeFile(home.file(file), text, { mode });
  };
  await write('bin/protocol-cli', `#!/bin/sh\nexec ${shellLine([])} "$@"\n`, 0o755);
  const { stdout } = await run(['completion', name]);
  await write(path, before + stdout);
  for (const [file, text] of Object.entries(files)) await write(file, text);
  await write('my mock.yaml', '');
  await write('my notes.txt', '');
  await run(['toolset', tool.url], { env: { HOME: home.path } });
  return home;
}

function openIn(home: Folder, { start }: Shell): Screen {
  const env = { HOME: home.path, PATH: `${home.file('bin')}:${process.env['PATH']}`, SHELL: '/bin/sh' };
  return openShell(start, { cwd: home.path, env });
}

describe.each(SHELLS)('in $name', shell => {
  const isHere = isInstalled(shell.name);

  test.skipIf(!isHere)('the tab key completes the words of a line', async () => {
    await using home = await homeOf(shell);
    await using screen = openIn(home, shell);
    await screen.shows(/^>$/m);
    const origin = tool.url.replace('http://127.0.0.1', '');
    const lines: readonly (readonly [typed: string, shown: string])[] = [
      ['recor', 'record '],
      ['check --probe', 'check --probe-timeout '],
      ['check --only TOOL-RETR', 'check --only TOOL-RETRY '],
      ['check --scenario refu', 'check --scenario refusals '],
      ['check --reporter=jun', 'check --reporter=junit '],
      ['session moc', 'session mock '],
      ['session mock -o nd', 'session mock -o ndjson '],
      ['mock-tool my', String.raw`mock-tool my\ mock.yaml `],
      ['invoke http://127', `invoke ${tool.url} `],
      // one candidate each: neither `--yes` nor a name that a shell would run
      [`invoke ${origin} `, `invoke ${origin} edit_file `],
      [`invoke ${origin} edit_file `, `invoke ${origin} edit_file path=`],
      ['invoke $(touch planted) --dry', 'invoke $(touch planted) --dry-run '],
    ];
    for (const [typed, shown] of lines) {
      screen.type(`protocol-cli ${typed}\t.`); // the dot shows whether a blank came before it
      await screen.shows(`> protocol-cli ${shown}.`);
      screen.type(CLEAR_LINE);
      await screen.shows(/^>$/m);
    }
    expect(existsSync(home.file('planted'))).toBe(false);
  });
});
