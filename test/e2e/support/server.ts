import type { Readable } from 'node:stream';
import type * as z from 'zod';
import type { EndingSignal } from '../../../src/system/process.js';
import { eventually } from './eventually.js';
import { startHere } from './in-process.js';
import { type Ended, type RunOptions, start } from './program.js';

/** A running server whose output is piped. */
export interface ServerHere extends AsyncDisposable {
  /** All of stderr so far. */
  stderr(): string;
  /** Waits until stderr matches, from `since` on. */
  printsToStderr(what: RegExp, since?: number): Promise<string>;
  /** Stdout after the ready line, so far. */
  stdout(): string;
  /** Waits until that stdout matches. */
  printsToStdout(what: RegExp | string): Promise<string>;
  /** Ends it. SIGTERM by default. */
  stop(signal?: EndingSignal): Promise<Ended>;
  readonly ended: Promise<Ended>;
}

/** A built server, as a process of its own. */
export interface Server extends Omit<ServerHere, 'stop'> {
  readonly pid: number;
  /** Reads no more of stdout. */
  hangUp(): void;
  stop(signal?: NodeJS.Signals): Promise<Ended>;
}

/** A command that serves. What is started has what its ready line says, and what `more` makes of that. */
export function serverCommand<Ready extends object, More extends object>(
  words: readonly string[],
  readySchema: z.ZodType<Ready>,
  more: (ready: Ready) => More,
) {
  const up = async (out: () => string, err: () => string, ended: Promise<Ended>) => {
    const over = ended.then(({ status }) => {
      throw new Error(`${words.join(' ')} ended with ${status}: ${err()}`);
    });
    over.catch(() => {});
    const line = await Promise.race([over, eventually('the ready line', () => /^.*(?=\n)/.exec(out())?.[0])]);
    const ready = readySchema.parse(JSON.parse(line));
    const stdout = () => out().slice(line.length + 1);
    return {
      ...ready,
      ...more(ready),
      ended,
      stderr: err,
      stdout,
      printsToStderr: (what: RegExp, since = 0) => matching('stderr', () => err().slice(since), what),
      printsToStdout: (what: RegExp | string) => matching('stdout', stdout, what),
    };
  };
  return {
    /** As a process. @throws Error with its output, without a ready line. */
    async start(args: readonly string[] = [], options?: RunOptions): Promise<Ready & More & Server> {
      const { child, ended } = start([...words, ...args], options);
      const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
        if (child.exitCode === null) child.kill(signal);
        return ended;
      };
      return {
        ...(await up(textOf(child.stdout), textOf(child.stderr), ended)),
        pid: child.pid ?? 0,
        hangUp: () => child.stdout.destroy(),
        stop,
        async [Symbol.asyncDispose]() {
          await stop('SIGKILL');
        },
      };
    },
    /** In this process: for tests that are about what is served, and not about the process. */
    async startHere(args: readonly string[] = [], options?: RunOptions): Promise<Ready & More & ServerHere> {
      const { stdout, stderr, signal: send, ended } = startHere([...words, ...args], options);
      const stop = (signal: EndingSignal = 'SIGTERM') => {
        send(signal);
        return ended;
      };
      return {
        ...(await up(stdout, stderr, ended)),
        stop,
        async [Symbol.asyncDispose]() {
          await stop();
        },
      };
    },
  };
}

/** All that a stream has said so far. */
function textOf(stream: Readable): () => string {
  let text = '';
  const decoder = new TextDecoder();
  stream.on('data', chunk => {
    text += decoder.decode(chunk, { stream: true });
  });
  return () => text;
}

function matching(stream: string, text: () => string, what: RegExp | string): Promise<string> {
  return eventually(`${stream} matches ${what}, not just: ${text().slice(-2_000)}`, () => {
    const now = text();
    return (typeof what === 'string' ? now.includes(what) : what.test(now)) && now;
  });
}
