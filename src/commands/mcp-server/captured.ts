import { Readable, Writable } from 'node:stream';
import { type Command, CommanderError } from 'commander';
import { type Trouble, troubleText } from '../../render/outputs/trouble.js';
import { ProtocolCliError } from '../../util/errors.js';
import type { RunCommand } from '../options.js';
import type { Terminal } from '../terminal.js';

/** The output of a command that ran inside of this one. */
export interface Captured {
  readonly stdout: string;
  /** Warnings, and why it failed. */
  readonly stderr: string;
  /** Why it failed, unless its output says so. */
  readonly failure: Trouble | null;
}

/**
 * Runs a command in this process. Its own parser reads the words, and its output is captured.
 * @param define makes the command
 * @throws errors that are no ProtocolCliError
 */
export async function runCaptured(
  define: (run: RunCommand) => Command,
  words: readonly string[],
  terminal: Omit<Terminal, 'stdin' | 'stdout' | 'stderr'>,
  stdin = '',
): Promise<Captured> {
  const [stdout, stderr] = [new Gatherer(), new Gatherer()];
  const streams = { stdin: Readable.from([Buffer.from(stdin)]), stdout, stderr };
  const inner: Terminal = { ...terminal, ...(streams as unknown as Pick<Terminal, keyof typeof streams>) };
  const command = define(async body => void (await body(inner)));
  command.exitOverride().configureOutput({ writeErr: text => stderr.write(text) });
  let failure: Trouble | null = null;
  try {
    await command.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (error instanceof ProtocolCliError) {
      failure = error;
      stderr.write(troubleText(error));
    } else if (error instanceof CommanderError)
      failure = { code: 'usage', message: error.message }; // commander has written it
    else throw error;
  }
  return { stdout: stdout.text(), stderr: stderr.text(), failure };
}

/** A stream that keeps what is written. */
class Gatherer extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}
