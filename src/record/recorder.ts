import { rm } from 'node:fs/promises';
import type { Event } from '../events/events.js';
import type { GroupKeeper, Log } from '../events/log.js';
import { type TranscriptAbout, transcriptWriter } from '../events/transcript-writer.js';
import { allowedDestinations } from '../http/addresses.js';
import { type HttpClient, lazyClient } from '../http/client.js';
import type { Reply, Route } from '../http/route.js';
import { type RunningServer, startServer } from '../http/server.js';
import { createPrivateFile, type Files, GroupWriter, openToAppend } from '../system/files.js';
import type { Redactor } from '../util/redact.js';
import { Forwarder } from './forwarder.js';
import { RecorderRoutes, ToolAddress } from './routes.js';

export interface RecorderOptions {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Host names besides loopback that requests may use. */
  readonly allowHosts: readonly string[];
  /** Origins besides loopback that callbacks may go to. */
  readonly allowCallbacks: readonly string[];
  /** The recorder's address for the tool, without a trailing slash; null for its own address. */
  readonly callbackBase: string | null;
  readonly maxBody: number;
  /** How long to wait at the end for messages in flight, in ms. */
  readonly drainMs: number;
}

export interface Recorder extends AsyncDisposable {
  readonly port: number;
  /** The URL to give to the runtime instead of the tool's. */
  readonly url: string;
  /** Number of calls recorded so far. */
  calls(): number;
  /** Requests the toolset of the tool. Returns false if it could not be read. */
  findTool(): Promise<boolean>;
  /** Stops accepting requests, waits for messages in flight, then aborts the rest. */
  close(): Promise<void>;
}

/**
 * A proxy between a runtime and a tool. It sends every message on and records both sides. It never acknowledges, retries or checks a
 * message, because that would hide what it records. A message that cannot be logged is answered with 503.
 * @throws ProtocolCliError `port-in-use`; `usage` for an invalid address, host or origin.
 * @param client default: an HTTP client configured for throughput
 */
export async function startRecorder(
  log: Log,
  { url, host, port, allowHosts, allowCallbacks, callbackBase, maxBody, drainMs }: RecorderOptions,
  client: HttpClient = lazyClient(async () => (await import('../http/pooled-client.js')).createAgentClient()),
): Promise<Recorder> {
  const forwarder = new Forwarder(log, client);
  const tool = new ToolAddress(forwarder, url);
  const allows = allowedDestinations(allowCallbacks);
  const routes = new RecorderRoutes(forwarder, tool, allows, () => callbackBase ?? server.url);
  const replies = new Set<Promise<Reply>>();
  const server: RunningServer = await startServer({
    ...{ host, port, maxBody },
    allowedHosts: [...allowHosts, ...(callbackBase ? [new URL(callbackBase).host] : [])],
    limits: { closeMs: drainMs },
    routes: routes.all.map(route => collecting(route, replies)),
    onRefused: refusal => routes.recordRefusal(refusal),
  });
  const close = async () => {
    await server.close();
    await client.close();
    await Promise.allSettled(replies);
  };
  const findTool = () =>
    tool.endpoint().then(
      endpoint => endpoint !== null,
      () => false,
    );
  const calls = () => routes.calls;
  return { port: server.port, url: server.url, calls, findTool, close, [Symbol.asyncDispose]: close };
}

function collecting({ handle, ...route }: Route, replies: Set<Promise<Reply>>): Route {
  return {
    ...route,
    handle(incoming) {
      const reply = Promise.resolve(handle(incoming));
      replies.add(reply);
      const forget = () => void replies.delete(reply);
      reply.then(forget, forget);
      return reply;
    },
  };
}

/** A transcript that is written line by line, so that a kill loses nothing: `log.keep(file)`. */
interface TranscriptFile extends GroupKeeper {
  /**
   * Writes the last line.
   * @throws ProtocolCliError `unwritable-file` for the first line that could not be written in time, even if it was written later.
   */
  close(reason: string): Promise<void>;
  /** Deletes the closed file, because a recorder that did not start leaves no file. */
  remove(): Promise<void>;
}

/**
 * Creates a private file, or uses an existing empty one (threats, rows 25 to 27).
 * @param files default: node:fs
 * @throws ProtocolCliError `unwritable-file`.
 */
export async function createTranscriptFile(
  path: string,
  redactor: Redactor,
  about: TranscriptAbout,
  files?: Files,
): Promise<TranscriptFile> {
  const lines = transcriptWriter(redactor);
  const draft = await createPrivateFile(path, files);
  await draft.write(lines.header(about));
  await draft.commit({ replaces: false });
  const file = await openToAppend(path, files);
  const { size: position } = await file.stat();
  const writer = new GroupWriter({ path, file, position, sync: false });
  const add = (texts: readonly string[]) => writer.add(texts.map(text => `${text}\n`).join(''));
  return {
    take: (event: Event) => add(lines.event(event)),
    kept: () => writer.kept(),
    async close(reason) {
      add([lines.end(reason)]);
      await writer.kept().catch(() => {}); // thrown below as `failure`
      await file.close();
      if (writer.failure) throw writer.failure;
    },
    remove: () => rm(path, { force: true }),
  };
}
