import * as z from 'zod';
import { eventually } from './eventually.js';
import { ask } from './http.js';
import { type Ended, type RunOptions, start } from './program.js';

const readySchema = z.strictObject({ port: z.int(), url: z.string(), callback_url: z.string() });

/** A built `listen` that runs, piped, and said in its ready line what tools are given. */
export interface Listening extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly callback_url: string;
  readonly pid: number;
  /** Stdout after the ready line, so far. */
  told(): string;
  /** Waits until stdout says this. */
  tells(what: RegExp | string): Promise<string>;
  /** Posts a callback; resolves to the status of the answer. */
  post(message: object | string): Promise<number>;
  /** Reads no more of stdout. */
  hangUp(): void;
  /** Ends it. SIGTERM unless told. */
  stop(signal?: NodeJS.Signals): Promise<Ended>;
  readonly ended: Promise<Ended>;
}

/** Starts `listen` with these arguments. @throws Error with what it said, where it does not come up. */
export async function startListening(args: readonly string[] = [], options?: RunOptions): Promise<Listening> {
  const { child, ended } = start(['listen', ...args], options);
  let out = '';
  const decoder = new TextDecoder();
  child.stdout.on('data', chunk => {
    out += decoder.decode(chunk, { stream: true });
  });
  const over = ended.then(({ status, stderr }) => {
    throw new Error(`listen ended with ${status}: ${stderr}`);
  });
  over.catch(() => {});
  await Promise.race([over, eventually('the ready line', () => out.includes('\n'))]);
  const ready = readySchema.parse(JSON.parse(out.slice(0, out.indexOf('\n'))));
  const told = () => out.slice(out.indexOf('\n') + 1);
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null) child.kill(signal);
    return ended;
  };
  return {
    ...ready,
    pid: child.pid ?? 0,
    told,
    tells: what =>
      eventually(`stdout tells ${what}, not just: ${told().slice(-2_000)}`, () => {
        const text = told();
        return (typeof what === 'string' ? text.includes(what) : what.test(text)) && text;
      }),
    async post(message) {
      const body = typeof message === 'string' ? message : JSON.stringify(message);
      return (await ask(ready.callback_url, { body })).status;
    },
    hangUp: () => child.stdout.destroy(),
    stop,
    ended,
    async [Symbol.asyncDispose]() {
      await stop('SIGKILL');
    },
  };
}
