import { tmpdir } from 'node:os';
import { Readable, Writable } from 'node:stream';
import { type CommandHere, type Surroundings, startCommandHere } from './command-here.js';
import { eventually } from './eventually.js';
import type { Ended, RunOptions } from './program.js';

process.setMaxListeners(0); // commands that run at the same time listen to the signals of this process

/**
 * Runs a command in this process, which is much faster than to start one. It cannot show signals, a reader that goes away, and files
 * relative to `cwd`, which is not the folder of this process.
 */
export function runHere(args: readonly string[], options?: RunOptions): Promise<Ended> {
  return startHere(args, options).ended;
}

/** A running program. */
export interface Here extends Pick<CommandHere, 'signal'> {
  /** The text on each stream so far. */
  stdout(): string;
  stderr(): string;
  /** Waits until stdout or stderr matches; returns the first group, or the whole match. */
  prints(what: RegExp): Promise<string>;
  /** What Ctrl-C sends. */
  interrupt(): void;
  readonly ended: Promise<Ended>;
}

/** Starts it in this process, to be met while it runs. */
export function startHere(
  args: readonly string[],
  { env, cwd = tmpdir(), stdin = '' }: RunOptions = {},
): Here {
  const [stdout, stderr] = [gatherer(), gatherer()];
  const ends = { stdin: Readable.from([Buffer.from(stdin)]), stdout: stdout.stream, stderr: stderr.stream };
  const { signal, status } = startCommandHere(args, {
    ...(ends as unknown as Pick<Surroundings, keyof typeof ends>),
    env: { PATH: process.env['PATH'], HOME: '/proc/nowhere', NO_COLOR: '1', ...env },
    cwd,
  });
  const soFar = () => ({ bytes: stdout.bytes(), stdout: stdout.text(), stderr: stderr.text() });
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    prints: what =>
      eventually(`${what}, not just: ${stdout.text().slice(-2_000)}`, () => {
        const found = what.exec(stdout.text() + stderr.text());
        return found ? (found[1] ?? found[0]) : undefined;
      }),
    ended: status.then(ended => ({ status: ended, ...soFar() })),
    signal,
    interrupt: () => signal('SIGINT'),
  };
}

/** A pipe that someone reads to its end. */
function gatherer() {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  const bytes = () => Buffer.concat(chunks);
  return { stream, bytes, text: () => bytes().toString('utf8') };
}
