import type * as z from 'zod';
import { eventually } from './eventually.js';
import { type Ended, type RunOptions, start } from './program.js';

/** A built server that runs, piped. */
export interface Server extends AsyncDisposable {
  readonly pid: number;
  /** All it said on stderr so far. */
  said(): string;
  /** Waits until stderr says this, from `since` on. */
  says(what: RegExp, since?: number): Promise<string>;
  /** Ends it. SIGTERM unless told. */
  stop(signal?: NodeJS.Signals): Promise<Ended>;
  readonly ended: Promise<Ended>;
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
    says: (what, since = 0) =>
      eventually(`stderr says ${what}, not just: ${said.slice(-2_000)}`, () => {
        const text = said.slice(since);
        return what.test(text) && text;
      }),
    stop,
    ended,
    async [Symbol.asyncDispose]() {
      await stop('SIGKILL');
    },
  };
}
