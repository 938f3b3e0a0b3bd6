import {
  type PriorDiscovery,
  ProtocolError,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import type { Log } from '../../events/log.js';
import { recordRequest } from '../../events/record-request.js';
import { TransportError } from '../../http/client.js';
import type { Tool } from '../../protocol/toolset.js';
import { ProtocolCliError } from '../../util/errors.js';
import {
  type Hearing,
  type McpConnection,
  missingCapabilities,
  NEWEST,
  openMcp,
  overhear,
} from './client.js';
import {
  endpointOf,
  explainMcp,
  failureOfMcp,
  garbageOf,
  HttpLink,
  type Link,
  listTools,
  type McpPeer,
  StdioLink,
} from './transports.js';

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
 * Connects to a server and lists its tools. Over HTTP the newest protocol version is tried first. A command is tried with `initialize`
 * first, since some older servers exit when anything else comes before it.
 * @throws ProtocolCliError saying what failed.
 */
export async function connectMcp(target: McpTarget, options: McpOptions): Promise<McpServer> {
  const { log, limitMs, left, onStop } = options;
  const { headers = {} } = target;
  const endpoint = endpointOf(target);
  const missing = new Set<string>();
  const hear: Hearing = (message, way) => {
    options.hear?.(message, way);
    if (way === 'received') for (const each of missingCapabilities(message)) missing.add(each);
  };
  const newLink = () => linkTo(target, { ...options, hear });
  let link = newLink();
  const open = (prior?: PriorDiscovery) => openMcp(link, options, prior);
  const explain = (error: unknown, method: string) => explainMcp(error, method, target, link, limitMs);
  const ask: <T>(method: string, work: () => Promise<T>) => Promise<T> = (method, work) =>
    logged(log, { endpoint, headers }, method, work);
  const connection =
    target.kind === 'http'
      ? await ask('server/discover', () => open(NEWEST)).catch((error: unknown) => {
          if (!isOlder(error)) throw explain(error, 'server/discover');
          link = newLink();
          return ask('initialize', () => open()).catch((refusal: unknown) => {
            throw explain(refusal, 'initialize');
          });
        })
      : await ask('initialize', () => open()).catch((error: unknown) => {
          const refused = explain(error, 'initialize');
          if (!(error instanceof ProtocolError)) throw refused;
          link = newLink();
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
    notes: () => [...notes, ...garbageOf(link), ...[...missing].map(missingText)],
    checkCallable(tool: string) {
      if (taskOnly.has(tool)) throw taskRequired(tool);
    },
    explain: (error: unknown, method: string) => explainMcp(error, method, target, link),
  });
}

function linkTo(
  { kind, name, headers = {}, env, cwd }: McpTarget,
  { maxBytes, onStderr, hear, onStop }: McpOptions & { readonly hear: Hearing },
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
  overhear(link, hear);
  onStop(() => link.close());
  return link;
}

/** Whether the answer to `server/discover` can be that of a server that only knows older versions. */
function isOlder(error: unknown): boolean {
  if (error instanceof TransportError) return error.phase === 'answer';
  return !(
    error instanceof UnauthorizedError ||
    (error instanceof SdkHttpError && [401, 403].includes(error.status))
  );
}

function missingText(capability: string): string {
  return `the server needs the client capability ${capability}, which protocol-cli does not offer`;
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
  const about = { from: 'client', to: 'tool', purpose: 'discovery', dialect: 'mcp' } as const;
  const recorded = recordRequest(log, { ...about, method, url: endpoint, headers: { ...headers } });
  return work().then(
    done => {
      recorded.answered(200);
      return done;
    },
    (error: unknown) => {
      const failure = failureOfMcp(error);
      if (failure.kind === 'broken') recorded.broken(failure.phase, failure.code);
      else recorded.answered(failure.kind === 'status' ? failure.status : 200); // a JSON-RPC error is an answer
      throw error;
    },
  );
}
