import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { oddTool } from '../../peers/odd/tool.mjs';
import { plainTool } from '../../peers/plain/tool.mjs';
import { eventually } from './eventually.js';
import { type Served, servePeer } from './serve-peer.js';

const entrySchema = z.object({
  what: z.string(),
  url: z.string(),
  headers: z.record(z.string(), z.unknown()),
  body: z.unknown(),
  raw: z.string(),
  status: z.number().nullable(),
  error: z.string().nullable(),
});

/** One thing that a peer received or delivered. */
export type Entry = z.infer<typeof entrySchema>;

export interface Peer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Everything so far, in order. */
  log(): Promise<Entry[]>;
  /** Waits for an entry that fits. @throws Error after the deadline, with what there was instead. */
  seen(what: string, fits?: (entry: Entry) => boolean): Promise<Entry>;
  stop(): Promise<void>;
}

const TOOLS = {
  plain: ['node', 'plain-tool.mjs'],
  odd: ['node', 'odd-tool.mjs'],
  stdlib: ['python3', 'stdlib_tool.py'],
} as const;

export type PeerName = keyof typeof TOOLS;

const HERE = { plain: plainTool, odd: oddTool };

/** The command that starts a peer, for a shell. */
export function peerCommand(name: PeerName): string {
  const [program, file] = TOOLS[name];
  return `${program === 'node' ? process.execPath : program} '${peerPath(file)}'`;
}

/** Starts a tool that shares no code with us, see test/peers/README.md. Those in Node run in this process. */
export async function startPeer(name: PeerName, env: Readonly<Record<string, string>> = {}): Promise<Peer> {
  const { url, port, stop, entries } = await (name === 'stdlib' ? startPython() : startHere(name, env));
  const log = async () => z.array(entrySchema).parse(await entries());
  return {
    url,
    port,
    log,
    stop,
    seen: (what, fits = () => true) =>
      eventually(`${name} logs ${what}`, async () =>
        (await log()).find(entry => entry.what === what && fits(entry)),
      ),
    [Symbol.asyncDispose]: stop,
  };
}

interface Logged extends Served {
  entries(): Promise<unknown>;
}

async function startHere(name: keyof typeof HERE, env: Readonly<Record<string, string>>): Promise<Logged> {
  const tool = HERE[name](env);
  return { ...(await servePeer(tool)), entries: async () => tool.entries };
}

async function startPython(): Promise<Logged> {
  const child = spawn('python3', [peerPath(TOOLS.stdlib[1])], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface(child.stdout), 'line');
  const { port } = z.object({ port: z.number() }).parse(JSON.parse(line));
  const url = `http://127.0.0.1:${port}`;
  return {
    port,
    url,
    entries: async () => (await fetch(`${url}/__log`)).json(),
    async stop() {
      if (child.exitCode !== null || !child.kill()) return;
      await once(child, 'exit');
    },
  };
}

/** The string that a logged message has under `key`; empty where it has none. */
export function fieldOf({ body }: Pick<Entry, 'body'>, key: string): string {
  const record = z.record(z.string(), z.unknown()).safeParse(body);
  const value = record.success ? record.data[key] : undefined;
  return typeof value === 'string' ? value : '';
}

function peerPath(file: string): string {
  return fileURLToPath(new URL(`../../peers/${file}`, import.meta.url));
}
