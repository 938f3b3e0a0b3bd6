import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { spawn } from '@lydell/node-pty';
import { Emulator, type Size } from './emulator.js';

const BIN = fileURLToPath(new URL('../../../bin/protocol-cli.cjs', import.meta.url));

export interface ScreenOptions extends Partial<Size> {
  /** Added to a small environment of our own: `CI`, `NO_COLOR` and `FORCE_COLOR` are unset by default. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where it looks for files and writes them. */
  readonly cwd?: string;
}

export interface Screen extends AsyncDisposable {
  readonly emulator: Emulator;
  readonly pid: number;
  /** The exit status; for a death by signal 128 and its number, as shells say it. */
  readonly ended: Promise<number>;
  text(): string;
  /** Waits until the screen shows it. */
  shows(text: string | RegExp): Promise<void>;
  /** Types, byte for byte. */
  type(keys: string): void;
  resize(size: Size): void;
  signal(name: NodeJS.Signals): void;
  /** Closes the window. */
  hangUp(): void;
}

/** The built program in a terminal of its own, as a person meets it. */
export function openProgram(args: readonly string[], options?: ScreenOptions): Screen {
  return openLingering('"$@"', [process.execPath, BIN, ...args], options);
}

/** A line of shell in a terminal of its own; `$TOOL` in it stands for the built program. */
export function openShell(line: string, { env, ...options }: ScreenOptions = {}): Screen {
  return openLingering(line, [], { ...options, env: { TOOL: `${process.execPath} ${BIN}`, ...env } });
}

const ESC = '\u001b';
/** The last output of a shell: the exit status of its line, in an APC sequence, which terminals do not show. */
const LAST_OUTPUT = new RegExp(`${ESC}_(\\d+)${ESC}\\\\$`);
const LAST_OUTPUT_LENGTH = 7;

/**
 * The shell stays until its output was read: node-pty drops what is unread 200 ms after an exit. A Ctrl-C that the program no longer
 * reads does not end the shell either.
 */
function openLingering(line: string, args: readonly string[], options?: ScreenOptions): Screen {
  const lingering = `trap : INT; ${line}; printf '\\033_%d\\033\\\\' $?; exec sleep 60`;
  return open('/bin/sh', ['-c', lingering, 'sh', ...args], options);
}

function open(
  file: string,
  args: string[],
  { columns = 100, rows = 40, env = {}, cwd = tmpdir() }: ScreenOptions = {},
): Screen {
  const emulator = new Emulator({ columns, rows });
  const terminal = spawn(file, args, {
    name: 'xterm-256color',
    cols: columns,
    rows,
    cwd,
    env: { PATH: process.env['PATH'], HOME: '/proc/nowhere', LANG: 'C.UTF-8', ...env },
  });
  let isOver = false;
  let drawn = Promise.resolve();
  let tail = '';
  const ended = new Promise<number>(resolve => {
    terminal.onData(data => {
      drawn = emulator.write(data.replace(LAST_OUTPUT, ''));
      tail = (tail + data).slice(-LAST_OUTPUT_LENGTH);
      const status = LAST_OUTPUT.exec(tail)?.[1];
      if (status) void drawn.then(() => resolve(Number(status)));
    });
    terminal.onExit(({ exitCode, signal }) => {
      isOver = true;
      void drawn.then(() => resolve(signal ? 128 + signal : exitCode));
    });
  });
  return {
    ...showing(emulator),
    ended,
    pid: terminal.pid,
    type: keys => terminal.write(keys),
    resize(size) {
      emulator.resize(size);
      terminal.resize(size.columns, size.rows);
    },
    signal: name => terminal.kill(name),
    hangUp: () => (terminal as unknown as { destroy(): void }).destroy(),
    async [Symbol.asyncDispose]() {
      if (!isOver) terminal.kill('SIGKILL');
      await ended;
    },
  };
}

/** What can be read on a screen, now or soon. */
export function showing(emulator: Emulator): Pick<Screen, 'emulator' | 'text' | 'shows'> {
  return {
    emulator,
    text: () => emulator.text(),
    shows: text =>
      emulator.waitFor(`it shows ${text}`, () => {
        const shown = emulator.text();
        return typeof text === 'string' ? shown.includes(text) : text.test(shown);
      }),
  };
}
