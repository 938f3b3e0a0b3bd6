import * as z from 'zod';
import { platformFor } from '../../peers/platform/platform.mjs';
import { ask } from './http.js';
import { servePeer } from './serve-peer.js';

const entrySchema = z.object({
  what: z.string(),
  url: z.string(),
  headers: z.record(z.string(), z.unknown()),
  body: z.unknown(),
  status: z.number().nullable(),
});

const settledSchema = z.looseObject({
  kind: z.string(),
  tool_req: z.looseObject({ tool_name: z.string() }),
  result: z.unknown().optional(),
  error: z.string().optional(),
  origin: z.string().optional(),
});

const sessionSchema = z.object({
  status: z.string(),
  settled: z.array(settledSchema),
  pending: z.array(z.unknown()),
});

/** One request that the platform got, and the status it answered; null without an answer. */
export type PlatformEntry = z.infer<typeof entrySchema>;

/** What test/peers/session-platform.mjs plays; the format is in its header. */
export type Script = Readonly<Record<string, unknown>>;

export interface PlatformPeer extends AsyncDisposable {
  readonly url: string;
  log(): Promise<PlatformEntry[]>;
  /** The bodies of posted results and their statuses, in order. */
  posts(): Promise<PlatformEntry[]>;
  /** What was applied, and where the session stands. */
  session(): Promise<z.infer<typeof sessionSchema>>;
  stop(): Promise<void>;
}

/** Starts a platform that shares no code with us. */
export async function startPlatform(script: Script): Promise<PlatformPeer> {
  const { url, stop } = await servePeer(platformFor(JSON.parse(JSON.stringify(script))));
  const read = async (path: string) => JSON.parse((await ask(url + path, { method: 'GET' })).body);
  const log = async () => z.array(entrySchema).parse(await read('/__log'));
  return {
    url,
    log,
    posts: async () => (await log()).filter(({ what }) => what === 'POST /tool_results'),
    session: async () => sessionSchema.parse(await read('/__session')),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
