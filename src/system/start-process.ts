import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { existsSync } from 'node:fs';
import spawn from 'cross-spawn';
import { errnoOf, messageOf } from '../util/errors.js';
import { environmentWith } from './environment.js';

/** A line for a shell, or a program and its arguments, which no shell reads. */
export type CommandLine = string | readonly string[];

/** How a command is started. */
export interface StartPlan {
  readonly program: string;
  readonly args: readonly string[];
  readonly options: Pick<SpawnOptions, 'detached' | 'shell' | 'windowsHide'>;
}

/**
 * Plans the start of a command.
 * @param isAlone gives it a process group (on Windows a console) of its own, so that Ctrl-C reaches it only through us
 */
export function startPlan(
  command: CommandLine,
  isAlone: boolean,
  platform: NodeJS.Platform = process.platform,
): StartPlan {
  // On Windows a detached process would open a window.
  const options = platform === 'win32' ? { windowsHide: isAlone } : { detached: isAlone };
  const words = typeof command === 'string' ? wordsOf(command, platform) : command;
  if (words === null) return { program: String(command), args: [], options: { ...options, shell: true } };
  const [program = '', ...args] = words;
  return { program, args, options };
}

/** Null for a line that needs `cmd`. */
function wordsOf(line: string, platform: NodeJS.Platform): readonly string[] | null {
  return platform === 'win32' ? windowsWords(line) : ['sh', '-c', line];
}

/** What `cmd` reads in any place, or outside of double quotes; and quotes that only a program of Windows can split. */
const NEEDS_CMD = /[%\r\n]|\\"|'|^(?:[^"]*"[^"]*")*[^"]*[&|<>^()]/;

/**
 * Splits a plain line: a process between us and the program would hide how it ends. Single quotes are ordinary characters for `cmd` and
 * for programs; `cmd` gets a line with one as it is.
 */
function windowsWords(line: string): readonly string[] | null {
  if (NEEDS_CMD.test(line) || line.split('"').length % 2 === 0) return null;
  const words = line.match(/(?:[^\s"]|"[^"]*")+/g);
  return words?.map(word => word.replaceAll('"', '')) ?? null;
}

interface StartOptions extends Pick<SpawnOptions, 'cwd' | 'stdio'> {
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly isAlone: boolean;
}

/** Starts a command with our environment and more variables. On Windows also finds and quotes for scripts such as `npm.cmd`. */
export function startProcess(command: CommandLine, { env, isAlone, ...more }: StartOptions): ChildProcess {
  const { program, args, options } = startPlan(command, isAlone);
  return spawn(program, [...args], { ...more, ...options, env: environmentWith(env) });
}

/** What reads a line of several commands. */
export function shellOf(platform: NodeJS.Platform = process.platform): string {
  return platform === 'win32' ? 'cmd /c' : 'sh -c';
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'program not found',
  EACCES: 'it may not be executed',
};

/** Why a program could not be started. @param cwd its folder */
export function startFailure(cause: unknown, cwd?: string): string {
  if (errnoOf(cause) === 'ENOENT' && cwd !== undefined && !existsSync(cwd)) return `no such folder: ${cwd}`;
  return REASONS[errnoOf(cause)] ?? messageOf(cause);
}
