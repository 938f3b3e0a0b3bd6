import * as z from 'zod';
import type { EndingSignal } from '../../../src/system/process.js';
import { eventually } from './eventually.js';
import { ask } from './http.js';
import { startHere } from './in-process.js';
import { type Ended, type RunOptions, start } from './program.js';

const readySchema = z.strictObject({ port: z.int(), url: z.string(), callback_url: z.string() });

/** A `listen` that runs, piped, and said in its ready line what tools are given. */
export interface ListeningHere extends z.infer<typeof readySchema>, AsyncDisposable {
  /** Stdout after the ready line, so far. */
  told(): string;
  /** Waits until stdout says this. */
  tells(what: RegExp | string): Promise<string>;
  /** Posts a callback; resolves to the status of the answer. */
  post(message: object | string): Promise<number>;
  /** Ends it. SIGTERM by default. */
  stop(signal?: EndingSignal): Promise<Ended>;
  readonly ended: Promise<Ended>;
}

/** A built one, as a process of its own. */
export interface Listening extends Omit<ListeningHere, 'stop'> {
  readonly pid: number;
  /** Reads no more of stdout. */
  hangUp(): void;
  stop(signal?: NodeJS.Signals): Promise<Ended>;
}

/** Starts `listen` in this process, where the process is not what is tested. */
export async function startListeningHere(
  args: readonly string[] = [],
  options?: RunOptions,
): Promise<ListeningHere> {
  const { told: out, signal: tell, ended } = startHere(['listen', ...args], options);
  const stop = (signal: EndingSignal = 'SIGTERM') => {
    tell(signal);
    return ended;
  };
  return {
    ...(await met(out, ended)),
    stop,
    ended,
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}

/** Once its ready line is there. @throws Error with what it said, where it does not come up. */
async function met(
  out: () => string,
  ended: Promise<Ended>,
): Promise<Pick<ListeningHere, 'port' | 'url' | 'callback_url' | 'told' | 'tells' | 'post'>> {
  const over = ended.then(({ status, stderr }) => {
    throw new Error(`listen ended with ${status}: ${stderr}`);
  });
  over.catch(() => {});
  await Promise.race([over, eventually('the ready line', () => out().includes('\n'))]);
  const ready = readySchema.parse(JSON.parse(out().slice(0, out().indexOf('\n'))));
  const told = () => out().slice(out().indexOf('\n') + 1);
  return {
    ...ready,
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
  };
}

/** Starts `listen` with these arguments. @throws Error with what it said, where it does not come up. */
export async function startListening(args: readonly string[] = [], options?: RunOptions): Promise<Listening> {
  const { child, ended } = start(['listen', ...args], options);
  let out = '';
  const decoder = new TextDecoder();
  child.stdout.on('data', chunk => {
    out += decoder.decode(chunk, { stream: true });
  });
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null) child.kill(signal);
    return ended;
  };
  return {
    ...(await met(() => out, ended)),
    pid: child.pid ?? 0,
    hangUp: () => child.stdout.destroy(),
    stop,
    ended,
    async [Symbol.asyncDispose]() {
      await stop('SIGKILL');
    },
  };
}
