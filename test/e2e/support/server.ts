import type * as z from 'zod';
import type { EndingSignal } from '../../../src/system/process.js';
import { eventually } from './eventually.js';
import { startHere } from './in-process.js';
import { type Ended, type RunOptions, start } from './program.js';

/** A server that runs, piped. */
export interface ServerHere extends AsyncDisposable {
  /** All it said on stderr so far. */
  said(): string;
  /** Waits until stderr says this, from `since` on. */
  says(what: RegExp, since?: number): Promise<string>;
  /** Ends it. SIGTERM by default. */
  stop(signal?: EndingSignal): Promise<Ended>;
  readonly ended: Promise<Ended>;
}

/** A built server, as a process of its own. */
export interface Server extends Omit<ServerHere, 'stop'> {
  readonly pid: number;
  stop(signal?: NodeJS.Signals): Promise<Ended>;
}

/** The same as `startServer`, in this process: for tests that are about what is served, and not about the process. */
export async function startServerHere<Ready extends object>(
  args: readonly string[],
  readySchema: z.ZodType<Ready>,
  options?: RunOptions,
): Promise<Ready & ServerHere> {
  const { told, said, signal: tell, ended } = startHere(args, options);
  const over = ended.then(({ status }) => {
    throw new Error(`${args[0]} ended with ${status}: ${said()}`);
  });
  over.catch(() => {});
  const line = await Promise.race([over, eventually('the ready line', () => /^.*(?=\n)/.exec(told())?.[0])]);
  const stop = (signal: EndingSignal = 'SIGTERM') => {
    tell(signal);
    return ended;
  };
  return {
    ...readySchema.parse(JSON.parse(line)),
    said,
    says: (what, since = 0) => sayingIn(said, what, since),
    stop,
    ended,
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}

function sayingIn(said: () => string, what: RegExp, since: number): Promise<string> {
  return eventually(`stderr says ${what}, not just: ${said().slice(-2_000)}`, () => {
    const text = said().slice(since);
    return what.test(text) && text;
  });
}

/** Starts a command that serves, and reads its ready line. @throws Error with what it said, where it does not come up. */
export async function startServer<Ready extends object>(
  args: readonly string[],
  readySchema: z.ZodType<Ready>,
  options?: RunOptions,
): Promise<Ready & Server> {
  const { child, ended } = start(args, options);
  let said = '';
  let told = '';
  const decoder = new TextDecoder();
  child.stderr.on('data', chunk => {
    said += decoder.decode(chunk, { stream: true });
  });
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', chunk => {
      told += chunk;
      if (told.includes('\n')) resolve(told.slice(0, told.indexOf('\n')));
    });
    child.once('exit', status => reject(new Error(`${args[0]} ended with ${status}: ${said}`)));
  });
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null) child.kill(signal);
    return ended;
  };
  return {
    ...readySchema.parse(JSON.parse(line)),
    pid: child.pid ?? 0,
    said: () => said,
    says: (what, since = 0) => sayingIn(() => said, what, since),
    stop,
    ended,
    async [Symbol.asyncDispose]() {
      await stop('SIGKILL');
    },
  };
}
