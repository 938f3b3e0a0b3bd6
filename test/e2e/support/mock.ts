import * as z from 'zod';
import { eventually } from './eventually.js';
import { type Ended, type RunOptions, start } from './program.js';

const readySchema = z.strictObject({ port: z.int(), url: z.string(), seed: z.string() });

const deliverySchema = z.looseObject({
  type: z.string().nullish(),
  url: z.string(),
  message: z.unknown(),
  delivered: z.boolean(),
  attempts: z.array(z.looseObject({ at: z.number(), status: z.number().optional() })),
});

const journalSchema = z.object({
  calls: z.array(
    z.looseObject({
      id: z.string().nullable(),
      group_id: z.string().nullable(),
      operation: z.string().nullable(),
      fixture: z.string().nullable(),
      state: z.string(),
      arrivals: z.number(),
      deliveries: z.array(deliverySchema),
      dropped: z.array(z.unknown()),
      warnings: z.array(z.string()),
    }),
  ),
  events: z.number(),
  forgotten: z.number(),
});

/** What `GET /__mock__/journal` tells. */
export type Journal = z.infer<typeof journalSchema>;

/** A built `mock-tool` that runs, piped, and said in its ready line where it is reached. */
export interface Mock extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly seed: string;
  readonly pid: number;
  /** All it said on stderr so far. */
  said(): string;
  /** Waits until stderr says this, from `since` on. */
  says(what: RegExp, since?: number): Promise<string>;
  journal(): Promise<Journal>;
  /** Ends it. SIGTERM unless told. */
  stop(signal?: NodeJS.Signals): Promise<Ended>;
  readonly ended: Promise<Ended>;
}

/** Starts `mock-tool` with these arguments. @throws Error with what it said, where it does not come up. */
export async function startMock(args: readonly string[], options?: RunOptions): Promise<Mock> {
  const { child, ended } = start(['mock-tool', ...args], options);
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
    child.once('exit', status => reject(new Error(`mock-tool ended with ${status}: ${said}`)));
  });
  const ready = readySchema.parse(JSON.parse(line));
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null) child.kill(signal);
    return ended;
  };
  return {
    ...ready,
    pid: child.pid ?? 0,
    said: () => said,
    says: (what, since = 0) =>
      eventually(`stderr says ${what}, not just: ${said.slice(-2_000)}`, () => {
        const text = said.slice(since);
        return what.test(text) && text;
      }),
    journal: async () => journalSchema.parse(await (await fetch(`${ready.url}/__mock__/journal`)).json()),
    stop,
    ended,
    async [Symbol.asyncDispose]() {
      await stop('SIGKILL');
    },
  };
}
