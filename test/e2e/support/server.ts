import type * as z from 'zod';
import type { EndingSignal } from '../../../src/system/process.js';
import { eventually } from './eventually.js';
import { startHere } from './in-process.js';
import { type Ended, type RunOptions, start } from './program.js';

/** A running server whose output is piped. */
export interface ServerHere extends AsyncDisposable {
  /** All of stderr so far. */
  said(): string;
  /** Waits until stderr matches, from `since` on. */
  says(what: RegExp, since?: number): Promise<string>;
  /** Stdout after the ready line, so far. */
  told(): string;
  /** Waits until that stdout matches. */
  tells(what: RegExp | string): Promise<string>;
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

/** Starts a command that serves, as a process. @throws Error with its output, without a ready line. */
export async function startServer<Ready extends object>(
  args: readonly string[],
  readySchema: z.ZodType<Ready>,
  options?: RunOptions,
): Promise<Ready & Server> {
  const { child, ended } = start(args, options);
  const [out, err] = [child.stdout, child.stderr].map(stream => {
    let text = '';
    const decoder = new TextDecoder();
    stream.on('data', chunk => {
      text += decoder.decode(chunk, { stream: true });
    });
    return () => text;
  }) as [() => string, () => string];
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null) child.kill(signal);
    return ended;
  };
  return {
    ...(await ready(args, readySchema, out, err, ended)),
    pid: child.pid ?? 0,
    hangUp: () => child.stdout.destroy(),
    stop,
    async [Symbol.asyncDispose]() {
      await stop('SIGKILL');
    },
  };
}

/** The same in this process: for tests that are about what is served, and not about the process. */
export async function startServerHere<Ready extends object>(
  args: readonly string[],
  readySchema: z.ZodType<Ready>,
  options?: RunOptions,
): Promise<Ready & ServerHere> {
  const { told: out, said: err, signal: send, ended } = startHere(args, options);
  const stop = (signal: EndingSignal = 'SIGTERM') => {
    send(signal);
    return ended;
  };
  return {
    ...(await ready(args, readySchema, out, err, ended)),
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}

async function ready<Ready extends object>(
  [name]: readonly string[],
  readySchema: z.ZodType<Ready>,
  out: () => string,
  err: () => string,
  ended: Promise<Ended>,
) {
  const over = ended.then(({ status }) => {
    throw new Error(`${name} ended with ${status}: ${err()}`);
  });
  over.catch(() => {});
  const line = await Promise.race([over, eventually('the ready line', () => /^.*(?=\n)/.exec(out())?.[0])]);
  const told = () => out().slice(line.length + 1);
  return {
    ...readySchema.parse(JSON.parse(line)),
    ended,
    said: err,
    told,
    says: (what: RegExp, since = 0) => matching('stderr', () => err().slice(since), what),
    tells: (what: RegExp | string) => matching('stdout', told, what),
  };
}

function matching(stream: string, text: () => string, what: RegExp | string): Promise<string> {
  return eventually(`${stream} matches ${what}, not just: ${text().slice(-2_000)}`, () => {
    const now = text();
    return (typeof what === 'string' ? now.includes(what) : what.test(now)) && now;
  });
}
