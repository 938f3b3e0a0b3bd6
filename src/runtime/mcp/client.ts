import { Client, type PriorDiscovery, SERVER_INFO_META_KEY } from '@modelcontextprotocol/client';
import * as z from 'zod/mini';
import { isRecord } from '../../text/is-record.js';
import type { Link } from './link.js';
import { overhear } from './overhear.js';

/** The first protocol version without `initialize`: each request carries its version. */
export const NEWEST: PriorDiscovery = {
  kind: 'modern',
  discover: { supportedVersions: ['2026-07-28'], capabilities: {} },
};

/** Ms for the answer to `server/discover`: an older server may not answer it. */
const PROBE_MS = 3_000;

const discoverSchema = z.object({
  _meta: z.object({ [SERVER_INFO_META_KEY]: z.object({ name: z.string() }) }),
});

/** The longest delay of a Node.js timer, in ms: the SDK has no value for "no limit". */
const LONGEST_MS = 2 ** 31 - 1;

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

interface OpenOptions {
  /** Of this program. */
  readonly version: string;
  /** Ms left for the handshake. */
  readonly left: () => number;
  /** Offer form elicitation to the server. */
  readonly elicits?: boolean;
}

/** @param prior the protocol version to speak; without it, versions that begin with `initialize` */
export async function openMcp(
  link: Link,
  { version, left, elicits = false }: OpenOptions,
  prior?: PriorDiscovery,
): Promise<McpConnection> {
  const client = new Client(
    { name: 'protocol-cli', version },
    elicits ? { capabilities: { elicitation: { form: {} } } } : {},
  );
  // The SDK's own progress handlers miss a notification that comes just before the result.
  const listening = new Map<unknown, (params: unknown) => void>();
  let requests = 0;
  overhear(link, (message, way) => {
    if (way !== 'received' || !isRecord(message) || message['method'] !== 'notifications/progress') return;
    const { params } = message;
    if (isRecord(params)) listening.get(params['progressToken'])?.(params);
  });
  const connection: McpConnection = {
    server: 'MCP server',
    elicit: null,
    // The result is returned as it came: the SDK's own schemas add and drop members.
    request: (method, params, { timeoutMs: timeout = LONGEST_MS, signal, onProgress } = {}) => {
      const limits = { timeout, ...(signal && { signal }), allowInputRequired: true };
      const progressToken = `progress-${++requests}`;
      if (onProgress) listening.set(progressToken, onProgress);
      const more = onProgress ? { _meta: { progressToken } } : {};
      const answer = client.request({ method, params: { ...params, ...more } }, z.unknown(), limits);
      return Promise.race([answer, link.lost]).finally(() => listening.delete(progressToken));
    },
    close: () => client.close(),
  };
  if (elicits)
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq: { signal } }) => {
      const result = await connection.elicit?.(params, signal);
      return { action: 'cancel', ...result };
    });
  await Promise.race([client.connect(link, { timeout: left(), ...(prior && { prior }) }), link.lost]);
  const timeoutMs = Math.min(left(), PROBE_MS);
  const discovered = prior && (await connection.request('server/discover', {}, { timeoutMs }));
  const named = discoverSchema.safeParse(discovered);
  const server = named.success
    ? named.data._meta[SERVER_INFO_META_KEY].name
    : client.getServerVersion()?.name;
  return Object.assign(connection, server !== undefined && { server });
}
