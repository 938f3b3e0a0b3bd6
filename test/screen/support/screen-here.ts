import { tmpdir } from 'node:os';
import { type CommandHere, startCommandHere } from '../../e2e/support/command-here.js';
import { Emulator } from './emulator.js';
import { fakeKeyboard } from './fake-keyboard.js';
import { fakeTerminal } from './fake-terminal.js';
import { type Screen, type ScreenOptions, showing } from './screen.js';

/** What a person meets of a program that runs in this process. */
export interface ScreenHere
  extends Pick<Screen, 'emulator' | 'ended' | 'text' | 'shows' | 'type' | 'resize'>,
    AsyncDisposable {}

/** Words for the program; or a line that is echoed, where `$?` is the status of the words before. */
export type Step = readonly string[] | string;

/**
 * The same as `openProgram`, in this process, for what is drawn and what is pressed: a pseudo-terminal and a process take longer than
 * all the rest. What it cannot show: signals, echo and lines of a terminal in its own mode, and what a process leaves behind.
 */
export function openHere(args: readonly string[], options?: ScreenOptions): ScreenHere {
  return openStepsHere([args], options);
}

/** What a shell would do on one terminal, one after the other, in this process; ends with the status of the last words. */
export function openStepsHere(
  steps: readonly Step[],
  { columns = 100, rows = 40, env = {}, cwd = tmpdir() }: ScreenOptions = {},
): ScreenHere {
  const emulator = new Emulator({ columns, rows });
  const keyboard = fakeKeyboard();
  const stdout = Object.assign(fakeTerminal(emulator, { columns, rows }).stream, { rows });
  const print = (text: string) => new Promise<void>(resolve => void stdout.write(text, () => resolve()));
  const known = { PATH: process.env['PATH'], HOME: '/proc/nowhere', LANG: 'C.UTF-8', TERM: 'xterm-256color' };
  const surroundings = { stdin: keyboard.stream, stdout, stderr: stdout, env: { ...known, ...env }, cwd };
  let running: CommandHere | undefined;
  const goThrough = async () => {
    let status = 0;
    for (const step of steps) {
      if (typeof step === 'string') await print(`${step.replace('$?', String(status))}\n`);
      else {
        running = startCommandHere(step, surroundings);
        status = await running.status;
        running = undefined;
        await print('');
      }
    }
    return status;
  };
  const ended = goThrough();
  return {
    ...showing(emulator),
    ended,
    type(keys) {
      if (keys === '\u0003' && !keyboard.isRaw()) running?.signal('SIGINT');
      else keyboard.type(keys);
    },
    resize(size) {
      emulator.resize(size);
      Object.assign(stdout, size).emit('resize');
    },
    async [Symbol.asyncDispose]() {
      running?.signal('SIGTERM');
      await ended;
    },
  };
}
