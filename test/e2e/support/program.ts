import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const BIN = fileURLToPath(new URL('../../../bin/protocol-cli.cjs', import.meta.url));

export interface RunOptions {
  /** Added to a small environment of our own: anyone who runs the tests must not change what they see. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** All of standard input; empty by default. */
  readonly stdin?: string | Uint8Array;
  /** How many files it may open at once. */
  readonly openFiles?: number;
}

export interface Ended {
  readonly status: number | null;
  /** The bytes of stdout, for what must be exact. */
  readonly bytes: Buffer;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly ended: Promise<Ended>;
}

/** Runs the built program to its end. */
export function run(args: readonly string[], options?: RunOptions): Promise<Ended> {
  return start(args, options).ended;
}

/** Starts the built program as a process of its own, without a terminal. */
export function start(
  args: readonly string[],
  { env, cwd = tmpdir(), stdin = '', openFiles }: RunOptions = {},
): Started {
  const limited = openFiles === undefined ? [] : ['sh', '-c', `ulimit -n ${openFiles}; exec "$@"`, 'sh'];
  const [file = '', ...words] = [...limited, process.execPath, BIN, ...args];
  const child = spawn(file, words, {
    cwd,
    env: { PATH: process.env['PATH'], HOME: '/proc/nowhere', NO_COLOR: '1', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => {}); // a program that ends early need not read it
  child.stdin.end(stdin);
  return { child, ended: outcomeOf(child) };
}

/** The words of a command line. A value is one word, or a part of one; a list is as many as it has. */
export function argv(
  texts: TemplateStringsArray,
  ...values: readonly (string | number | readonly string[])[]
): string[] {
  const wordsOf = (mark = '') => [values[Number(mark)] ?? ''].flat().map(String);
  return texts
    .reduce((line, text, index) => `${line}\0${index - 1}\0${text}`)
    .trim()
    .split(/\s+/)
    .flatMap(word =>
      /^\0\d+\0$/.test(word)
        ? wordsOf(word.slice(1, -1))
        : word.replaceAll(/\0(\d+)\0/g, (_, mark) => wordsOf(mark).join()),
    );
}

/** The command line of the program for a shell. */
export function shellLine(args: readonly string[]): string {
  return [process.execPath, BIN, ...args].map(word => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
}

/** Runs a line of bash, for pipes. */
export function runShell(line: string): Promise<Ended> {
  const child = spawn('bash', ['-c', line], {
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'], HOME: '/proc/nowhere', NO_COLOR: '1' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end();
  return outcomeOf(child);
}

async function outcomeOf(child: ChildProcessByStdio<Writable, Readable, Readable>): Promise<Ended> {
  const [stdout, stderr, [status]] = await Promise.all([
    gathered(child.stdout),
    gathered(child.stderr),
    once(child, 'close'),
  ]);
  return { status, bytes: stdout, stdout: stdout.toString('utf8'), stderr: stderr.toString('utf8') };
}

function gathered(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  return new Promise(resolve => {
    stream.on('data', chunk => chunks.push(chunk)).once('close', () => resolve(Buffer.concat(chunks)));
  });
}
