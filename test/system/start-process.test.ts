import { describe, expect, test } from 'vitest';
import { type CommandLine, startPlan } from '../../src/system/start-process.js';
import { ownProgram } from '../support/own-program.js';

/** The words that are started without a shell, or the line for the shell of the platform. */
function plannedOn(platform: NodeJS.Platform, command: CommandLine) {
  const { program, args, options } = startPlan(command, true, platform);
  return options.shell ? { cmd: program } : [program, ...args];
}

describe('on Windows', () => {
  test.each([
    ['node server.mjs --port 0', ['node', 'server.mjs', '--port', '0']],
    ['  node   server.mjs ', ['node', 'server.mjs']],
    [
      '"C:\\Program Files\\nodejs\\node.exe" server.mjs',
      ['C:\\Program Files\\nodejs\\node.exe', 'server.mjs'],
    ],
    ['node C:\\tools\\server.mjs', ['node', 'C:\\tools\\server.mjs']],
    ['node --name="a b" ""', ['node', '--name=a b', '']],
    ['node -e "if (1 < 2 && 3 > 2) f(1 ^ 2)"', ['node', '-e', 'if (1 < 2 && 3 > 2) f(1 ^ 2)']],
    ['./gradlew run', ['./gradlew', 'run']],
    ['npm run tool', ['npm', 'run', 'tool']],
  ])('a plain line is split into words: %s', (line, words) => {
    expect(plannedOn('win32', line)).toEqual(words);
  });

  test.each([
    'npm run build && node server.mjs',
    'node server.mjs 2> log.txt',
    'type x.json | node server.mjs',
    'node %TOOL%',
    'node "%TOOL%"',
    'node "a" & echo "b"',
    'node ^& x',
    '(node server.mjs)',
    "node 'server.mjs'",
    'node -e "print(\\"x\\")"',
    'node "server.mjs',
  ])('cmd reads every other line as it is: %s', line => {
    expect(plannedOn('win32', line)).toEqual({ cmd: line });
  });

  test('a command has a console of its own, which is hidden, unless it is attached to ours', () => {
    expect(startPlan('node x', true, 'win32').options).toEqual({ windowsHide: true });
    expect(startPlan('node x', false, 'win32').options).toEqual({ windowsHide: false });
  });
});

describe.each(['linux', 'darwin'] as const)('on %s', platform => {
  test('a shell reads every line', () => {
    const line = `node 'server.mjs' && echo "$HOME"`;
    expect(plannedOn(platform, line)).toEqual(['sh', '-c', line]);
  });

  test('a command has a process group of its own, unless it is attached to ours', () => {
    expect(startPlan('node x', true, platform).options).toEqual({ detached: true });
    expect(startPlan('node x', false, platform).options).toEqual({ detached: false });
  });
});

test.each(['linux', 'darwin', 'win32'] as const)('on %s no shell reads a list of words', platform => {
  const words = ['node', 'a b', "it's", '$HOME', '%PATH%', '&', '"'];
  expect(plannedOn(platform, words)).toEqual(words);
});

/**
 * What Node.js is asked to start on Windows. The program is not found here, so it could be a script: `cmd` gets it, and no argument can
 * become a command (CVE-2024-27980).
 */
test('on Windows arguments of a script are quoted for cmd', async () => {
  const run = await ownProgram(`
    Object.defineProperty(process, 'platform', { value: 'win32' });
    process.env.comspec = '/bin/echo';
    export const { startProcess } = require('./src/system/start-process.ts');`);
  const { said } = await run(`
    const child = ours.startProcess(['npm', 'a b', '&calc', '%PATH%', 'x"&y', 'c\\\\'], { stdio: 'pipe', isAlone: true });
    child.stdout.on('data', text => say(String(text).trim()));`);
  expect(said).toEqual(['/d /s /c "npm ^"a^ b^" ^"^&calc^" ^"^%PATH^%^" ^"x\\^"^&y^" ^"c\\\\^""']);
});
