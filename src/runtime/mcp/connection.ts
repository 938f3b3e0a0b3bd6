import {
  Client,
  type PriorDiscovery,
  ProtocolError,
  SdkHttpError,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/client';
import * as z from 'zod/mini';
import { ProtocolCliError } from '../../errors.js';
import type { Log } from '../../exchange/log.js';
import type { Tool } from '../../protocol/toolset.js';
import { endpointOf, explainMcp, failureOfMcp, garbageOf, type McpFailure, type McpPeer } from './explain.js';
import { HttpLink } from './http.js';
import type { Link } from './link.js';
import { type Hearing, overhear } from './overhear.js';
import { StdioLink } from './stdio.js';
import { listTools } from './tool-list.js';

/** The first protocol version without `initialize`: each request carries its version. */
const NEWEST: PriorDiscovery = {
  kind: 'modern',
  discover: { supportedVersions: ['2026-07-28'], capabilities: {} },
};

const discoverSchema = z.object({
  _meta: z.object({ [SERVER_INFO_META_KEY]: z.object({ name: z.string() }) }),
});

/** The longest delay of a Node.js timer, in ms: the SDK has no value for "no limit". */
const LONGEST_MS = 2 ** 31 - 1;

/** An MCP server to connect to. */
export interface McpTarget extends McpPeer {
  /** Sent to the origin of the URL only; not used for a command. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Added to the environment of a command. */
  readonly env?: Readonly<Record<string, string>>;
  /** Working directory of a command. */
  readonly cwd?: string;
}

export interface McpOptions {
  /** Of this program. */
  readonly version: string;
  readonly log: Log;
  /** Bytes of one message. */
  readonly maxBytes: number;
  /** Ms for starting the server, the handshake and the list of tools together. */
  readonly limitMs: number;
  /** Ms left of that. */
  readonly left: () => number;
  /** Registers a cleanup. It is registered before the server is started. */
  readonly onStop: (stop: () => Promise<void>) => void;
  /** Offer form elicitation to the server; see `McpConnection.elicit`. */
  readonly elicits?: boolean;
  /** Receives the stderr of a command. */
  readonly onStderr?: (text: string) => void;
  /** Receives every message on the wire. */
  readonly hear?: Hearing;
}

/** Answers a request of the server for input; the result is an `ElicitResult`. */
export type Elicit = (params: unknown, signal: AbortSignal) => Promise<Record<string, unknown>>;

interface RequestLimits {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Receives the parameters of each progress notification. */
  readonly onProgress?: (params: unknown) => void;
}

/** An open MCP connection. */
export interface McpConnection {
  /** The name the server gives itself. */
  readonly server: string;
  /** Rejects when the server refuses, is gone, or does not answer in time; see `explainMcp`. */
  request(method: string, params: Record<string, unknown>, limits?: RequestLimits): Promise<unknown>;
  /** Answers elicitation requests that the server sends; without one they are cancelled. */
  elicit: Elicit | null;
  close(): Promise<void>;
}

/** A connected server and its tools. */
export interface McpServer extends McpConnection {
  /** Where calls go, for a transcript. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tools: readonly Tool[];
  /** Problems of the list of tools and of the wire, as far as they are known now. */
  notes(): readonly string[];
  /** @throws ProtocolCliError when the tool can only be called as a task. */
  checkCallable(tool: string): void;
  /** Explains an error that a request was rejected with. */
  explain(error: unknown, method: string): ProtocolCliError;
}

/**
 * Connects to a server and lists its tools. It begins with `initialize`; a server that refuses it is tried with the newest protocol
 * version.
 * @throws ProtocolCliError saying what failed.
 */
export async function connectMcp(target: McpTarget, options: McpOptions): Promise<McpServer> {
  const { log, limitMs, left, onStop } = options;
  const { headers = {} } = target;
  const endpoint = endpointOf(target);
  let link = linkTo(target, options);
  const open = (prior?: PriorDiscovery) => openMcp(link, options, prior);
  const explain = (error: unknown, method: string) => explainMcp(error, method, target, link, limitMs);
  const ask: <T>(method: string, work: () => Promise<T>) => Promise<T> = (method, work) =>
    logged(log, { endpoint, headers }, method, work);
  const connection = await ask('initialize', () => open()).catch(async (refusal: unknown) => {
    const refused = explain(refusal, 'initialize');
    if (!isRefused(refusal)) throw refused;
    link = linkTo(target, options);
    return ask('server/discover', () => open(NEWEST)).catch(() => {
      throw refused;
    });
  });
  onStop(() => connection.close());
  const { tools, notes, taskOnly } = await ask('tools/list', () => listTools(connection, left)).catch(
    (error: unknown) => {
      throw explain(error, 'tools/list');
    },
  );
  const toolset = connection.server;
  log.emit({ kind: 'loaded', base: null, endpoint, toolset, operations: tools.map(({ name }) => name) });
  return Object.assign(connection, {
    endpoint,
    headers,
    tools,
    notes: () => [...notes, ...garbageOf(link)],
    checkCallable(tool: string) {
      if (taskOnly.has(tool)) throw taskRequired(tool);
    },
    explain: (error: unknown, method: string) => explainMcp(error, method, target, link),
  });
}

function linkTo(
  { kind, name, headers = {}, env, cwd }: McpTarget,
  { maxBytes, onStderr, hear, onStop }: McpOptions,
): Link {
  const link =
    kind === 'http'
      ? new HttpLink({ url: name, headers, maxBytes })
      : new StdioLink({
          command: name,
          maxBytes,
          ...(onStderr && { onStderr }),
          ...(env && { env }),
          ...(cwd !== undefined && { cwd }),
        });
  if (hear) overhear(link, hear);
  onStop(() => link.close());
  return link;
}

/** @param prior the protocol version to speak; without it, versions that begin with `initialize` */
async function openMcp(
  link: Link,
  { version, left, elicits = false }: Pick<McpOptions, 'version' | 'left' | 'elicits'>,
  prior?: PriorDiscovery,
): Promise<McpConnection> {
  const client = new Client(
    { name: 'protocol-cli', version },
    elicits ? { capabilities: { elicitation: { form: {} } } } : {},
  );
  const connection: McpConnection = {
    server: 'MCP server',
    elicit: null,
    // The result is returned as it came: the SDK's own schemas add and drop members.
    request: (method, params, { timeoutMs: timeout = LONGEST_MS, signal, onProgress } = {}) => {
      const limits = { timeout, ...(signal && { signal }), ...(onProgress && { onprogress: onProgress }) };
      const answer = client.request({ method, params }, z.unknown(), { ...limits, allowInputRequired: true });
      return Promise.race([answer, link.lost]);
    },
    close: () => client.close(),
  };
  if (elicits)
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq: { signal } }) => {
      const result = await connection.elicit?.(params, signal);
      return { action: 'cancel', ...result };
    });
  await Promise.race([client.connect(link, { timeout: left(), ...(prior && { prior }) }), link.lost]);
  const discovered = prior && (await connection.request('server/discover', {}, { timeoutMs: left() }));
  const named = discoverSchema.safeParse(discovered);
  const server = named.success
    ? named.data._meta[SERVER_INFO_META_KEY].name
    : client.getServerVersion()?.name;
  return Object.assign(connection, server !== undefined && { server });
}

/** A server that speaks only the newest version answers `initialize` with an error, over HTTP with a status of 4xx. */
function isRefused(error: unknown): boolean {
  if (error instanceof ProtocolError) return true;
  if (!(error instanceof SdkHttpError)) return false;
  const { status } = error;
  return status >= 400 && status < 500 && status !== 401 && status !== 403;
}

function taskRequired(tool: string): ProtocolCliError {
  return new ProtocolCliError(
    'usage',
    `${tool} can only be called as a task (taskSupport: required), and protocol-cli does not support MCP tasks`,
    { hint: 'Call another tool, or let the server offer this one with taskSupport: optional.' },
  );
}

interface Place {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Records a request of the handshake and its answer. */
async function logged<T>(
  log: Log,
  { endpoint, headers }: Place,
  method: string,
  work: () => Promise<T>,
): Promise<T> {
  const leg = log.leg();
  const about = { from: 'client', to: 'tool', purpose: 'discovery', dialect: 'mcp' } as const;
  log.emit({ kind: 'request', ...about, leg, method, url: endpoint, headers: { ...headers }, attempt: 1 });
  return work().then(
    done => {
      log.emit({ kind: 'response', leg, status: 200, headers: {} });
      return done;
    },
    (error: unknown) => {
      log.emit({ ...endOf(failureOfMcp(error)), leg });
      throw error;
    },
  );
}

function endOf(failure: McpFailure) {
  if (failure.kind === 'broken') return failure;
  const status = failure.kind === 'status' ? failure.status : 200; // an error of JSON-RPC is an answer
  return { kind: 'response', status, headers: {} } as const;
}
