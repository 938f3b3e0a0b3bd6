import {
  Client,
  type PriorDiscovery,
  ProtocolError,
  SdkHttpError,
  SERVER_INFO_META_KEY,
  UnauthorizedError,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/client';
import * as z from 'zod/mini';
import { Content } from '../../events/content.js';
import { type Log, RecordedRequest } from '../../events/log.js';
import { TransportError } from '../../http/transport-error.js';
import { mirroredHeaders } from '../../protocol/mcp-headers.js';
import { type McpVersion, WITH_INITIALIZE, WITHOUT_INITIALIZE } from '../../protocol/mcp-versions.js';
import type { Tool } from '../../protocol/toolset.js';
import { systemClock } from '../../system/clock.js';
import type { Sink } from '../../system/streams.js';
import { ProtocolCliError } from '../../util/errors.js';
import { LIMITS } from '../../util/limits.js';
import { isRecord } from '../../util/values.js';
import { missingCapabilities, refusesToAsk } from './capabilities.js';
import { explainMcp, invalidLinesOf, isTimeout, supportedBy } from './explain.js';
import { failureOfMcp } from './failure.js';
import { HttpLink } from './http-link.js';
import type { Link, LinkOptions, McpTarget, MessageListener } from './link.js';
import { receivedResult } from './messages.js';
import { StdioLink } from './stdio-link.js';
import { ToolList } from './tool-list.js';

interface McpOptions {
  readonly version: string;
  /** The version of MCP to use; by default one that both sides support. */
  readonly protocolVersion?: McpVersion | undefined;
  readonly log: Log;
  readonly maxBytes: number;
  /** Time limit in ms for starting the server, the handshake and the list of tools together. */
  readonly limitMs: number;
  /** Registers a cleanup, before the server is started. */
  readonly onStop: (stop: () => Promise<void>) => void;
  readonly onStderr?: Sink;
  readonly onMessage?: MessageListener;
}

/** Answers a server's request for input; the result is an `ElicitResult`. */
export type Elicit = (params: unknown, signal: AbortSignal) => Promise<Record<string, unknown>>;

interface RequestLimits {
  /** Default: no limit. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Receives the parameters of each progress notification. */
  readonly onProgress?: (params: unknown) => void;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Connects without a request: each request carries its version. */
const NEWEST: PriorDiscovery = {
  kind: 'modern',
  discover: { supportedVersions: [WITHOUT_INITIALIZE], capabilities: {} },
};

/** Time limit in ms for `server/discover`, since an older server may not answer it. */
const PROBE_MS = 3_000;

/** The longest delay of a Node.js timer, because the SDK has no value for "no limit". */
const MAX_TIMER_MS = 2 ** 31 - 1;

const UNTYPED_RESULT = `a result has no resultType, which MCP ${WITHOUT_INITIALIZE} requires; read as complete`;

const CANNOT_ASK = `the server cannot ask by itself with MCP ${WITHOUT_INITIALIZE}; try --mcp-version ${WITH_INITIALIZE[0]}`;

/** Number of notes that are shown. */
const SHOWN_NOTES = 5;

const discoverSchema = z.object({
  supportedVersions: z.optional(z.array(z.string())),
  _meta: z.optional(z.object({ [SERVER_INFO_META_KEY]: z.optional(z.object({ name: z.string() })) })),
});

/**
 * Connects to a server and lists its tools. Over HTTP the newest version is tried first. For a command `initialize` is tried first, since
 * some older servers exit on any other first message. The other way is tried if the server does not support the first;
 * the first again if the server refused it and names it as supported, or was only slow to answer.
 * @throws ProtocolCliError with the cause.
 */
export async function connectMcp(target: McpTarget, options: McpOptions): Promise<McpServer> {
  const { limitMs, protocolVersion } = options;
  const until = systemClock.now() + limitMs;
  const remainingMs = () => Math.max(1, until - systemClock.now());
  const server = new McpServer(target, options);
  const isHttp = target.kind === 'http';
  const ways = isHttp ? [[WITHOUT_INITIALIZE], WITH_INITIALIZE] : [WITH_INITIALIZE, [WITHOUT_INITIALIZE]];
  const [first = [], second] = protocolVersion === undefined ? ways : [[protocolVersion]];
  const open = (versions: readonly McpVersion[]) => server.open(versions, remainingMs);
  const explain = (error: unknown) => server.explain(error, server.lastMethod, limitMs);
  try {
    await open(first);
  } catch (error) {
    const failure = explain(error);
    const named = first.filter(version => supportedBy(error)?.includes(version));
    const next = named.length > 0 ? named : second;
    if (!next || !isOfAnotherVersion(error, server.lastMethod, isHttp)) throw failure;
    await open(next)
      .catch(again => {
        if (!isTimeout(error) || isTimeout(again)) throw again;
        return open(first); // it answers, and was only slow
      })
      .catch(again => {
        throw isHttp ? explain(again) : failure;
      });
  }
  options.onStop(() => server.close());
  return server;
}

/** Whether the answer to this request could come from a server that supports only versions of the other way to connect. */
function isOfAnotherVersion(error: unknown, method: string, isHttp: boolean): boolean {
  if (supportedBy(error) !== null) return true;
  if (method === 'tools/list') return false;
  if (!isHttp) return error instanceof ProtocolError;
  if (error instanceof TransportError) return error.phase === 'answer';
  if (error instanceof SdkHttpError) return ![401, 403].includes(error.status);
  return !(error instanceof UnauthorizedError);
}

export class McpServer {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  name = 'MCP server';
  /** The method of the latest request of the handshake. */
  lastMethod = '';
  readonly #list: ToolList;
  readonly #notes: string[] = [];
  readonly #missingCapabilities = new Set<string>();
  /** Problems of the messages, each named once. */
  readonly #seen = new Set<string>();
  /** The SDK's own progress handlers miss a notification that arrives just before the result. */
  readonly #progress = new Map<unknown, (params: unknown) => void>();
  #requests = 0;
  #elicit: Elicit | null = null;
  #link: Link;
  #client: Client | undefined;
  #isConnected = false;

  constructor(
    private readonly target: McpTarget,
    private readonly options: McpOptions,
  ) {
    this.endpoint = endpointOf(target);
    this.headers = target.headers ?? {};
    this.#link = this.#newLink();
    this.#list = new ToolList(() => this.#mirrorsArguments);
  }

  get tools(): readonly Tool[] {
    return this.#list.tools;
  }

  /** The version in use; undefined before the connection is open. */
  get protocolVersion(): string | undefined {
    return this.#client?.getNegotiatedProtocolVersion();
  }

  /** Returns the problems found so far in the list of tools and in the messages. */
  notes(): readonly string[] {
    const missing = [...this.#missingCapabilities].map(
      name => `the server needs the client capability ${name}, which protocol-cli does not offer`,
    );
    return [...this.#notes, ...invalidLinesOf(this.#link), ...missing, ...this.#seen];
  }

  /** @throws ProtocolCliError if the tool can only be called as a task. */
  checkCallable(tool: string): void {
    if (!this.#list.needsTask(tool)) return;
    throw new ProtocolCliError(
      'usage',
      `${tool} can only be called as a task (taskSupport: required), and protocol-cli does not support MCP tasks`,
      { hint: 'Call another tool, or let the server offer this one with taskSupport: optional.' },
    );
  }

  /**
   * Connects with one of these versions, and lists the tools.
   * @throws ProtocolError with `data.supported` if the server supports none of them
   */
  async open(versions: readonly McpVersion[], remainingMs: () => number): Promise<void> {
    if (this.#client) this.#link = this.#newLink(); // an earlier attempt failed
    const { version } = this.options;
    const client = new Client(
      { name: 'protocol-cli', version },
      {
        capabilities: { elicitation: { form: {} } },
        inputRequired: { maxRounds: LIMITS.mcpRounds.value },
        supportedProtocolVersions: [...versions],
      },
    );
    this.#client = client;
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq: { signal } }) => ({
      action: 'cancel',
      ...(await this.#elicit?.(params, signal)),
    }));
    const isDiscovered = versions.includes(WITHOUT_INITIALIZE);
    await this.#recorded(isDiscovered ? 'server/discover' : 'initialize', async () => {
      const timeout = remainingMs();
      const connecting = client.connect(this.#link, { timeout, ...(isDiscovered && { prior: NEWEST }) });
      await Promise.race([connecting, this.#link.lost]);
      const name = isDiscovered ? await this.#discover(versions, timeout) : client.getServerVersion()?.name;
      this.name = name ?? this.name;
    });
    await this.#readTools(remainingMs);
    this.#isConnected = true;
    const { log } = this.options;
    const operations = this.tools.map(tool => tool.name);
    log.emit({ kind: 'loaded', base: null, endpoint: this.endpoint, toolset: this.name, operations });
  }

  /** Returns the name of the server, if it has one. */
  async #discover(versions: readonly McpVersion[], leftMs: number): Promise<string | undefined> {
    const discovered = await this.request('server/discover', {}, { timeoutMs: Math.min(leftMs, PROBE_MS) });
    const read = discoverSchema.safeParse(discovered);
    const { supportedVersions: supported, _meta: meta } = read.success ? read.data : {};
    if (supported && !versions.some(version => supported.includes(version)))
      throw new UnsupportedProtocolVersionError({ supported, requested: versions.join(', ') });
    return meta?.[SERVER_INFO_META_KEY]?.name;
  }

  async #readTools(remainingMs: () => number): Promise<void> {
    const notes = await this.#list.read(params =>
      this.#recorded('tools/list', () => this.request('tools/list', params, { timeoutMs: remainingMs() })),
    );
    const rest = notes.length - SHOWN_NOTES;
    this.#notes.push(...notes.slice(0, SHOWN_NOTES));
    if (rest > 0)
      this.#notes.push(`${rest} more ${rest === 1 ? 'problem' : 'problems'} in the list of tools`);
  }

  /**
   * Sends a request and returns the unchanged result; the SDK's own schemas add and drop members. Rejects if the server refuses,
   * disconnects, or times out; see {@link McpServer.explain}.
   */
  request(
    method: string,
    params: Record<string, unknown>,
    { timeoutMs: timeout = MAX_TIMER_MS, signal, onProgress, headers }: RequestLimits = {},
  ): Promise<unknown> {
    if (!this.#client) throw new Error('the connection is not open');
    const progressToken = `progress-${++this.#requests}`;
    if (onProgress) this.#progress.set(progressToken, onProgress);
    const more = onProgress ? { _meta: { progressToken } } : {};
    const limits = { timeout, ...(signal && { signal }), ...(headers && { headers }) };
    const answer = this.#client.request({ method, params: { ...params, ...more } }, z.unknown(), limits);
    return Promise.race([answer, this.#link.lost])
      .then(receivedResult)
      .finally(() => this.#progress.delete(progressToken));
  }

  /**
   * Calls a tool. From protocol version 2026-07-28 on, a server requests input with a special result, and the call is repeated with
   * the answers. If this client does not support the requested input, that result is returned.
   */
  async callTool(
    params: { readonly name: string; readonly arguments: Record<string, unknown> },
    limits: RequestLimits & { readonly signal: AbortSignal },
    elicit: Elicit,
  ): Promise<unknown> {
    this.#elicit = elicit;
    try {
      return await this.request('tools/call', params, { ...limits, headers: this.headersOf(params) });
    } finally {
      if (this.#elicit === elicit) this.#elicit = null;
    }
  }

  /** The headers that mirror the arguments of a call. */
  headersOf(call: { readonly name: string; readonly arguments: unknown }): Readonly<Record<string, string>> {
    if (!this.#mirrorsArguments) return {};
    return mirroredHeaders(this.#list.get(call.name)?.inputSchema, call.arguments);
  }

  get #mirrorsArguments(): boolean {
    return this.target.kind === 'http' && this.protocolVersion === WITHOUT_INITIALIZE;
  }

  async close(): Promise<void> {
    await this.#client?.close();
  }

  /**
   * Converts the error of a rejected request.
   * @param limitMs the time limit of the request, if any
   */
  explain(error: unknown, method: string, limitMs?: number): ProtocolCliError {
    const { target } = this;
    return explainMcp(error, { target, link: this.#link, method, limitMs, isConnected: this.#isConnected });
  }

  #newLink(): Link {
    const { maxBytes, onStderr, onStop, onMessage } = this.options;
    const options: LinkOptions = {
      maxBytes,
      ...(onStderr && { onStderr }),
      onMessage: (message, way) => {
        onMessage?.(message, way);
        if (way === 'received') this.#inspect(message);
      },
    };
    const { target } = this;
    const link = target.kind === 'http' ? new HttpLink(target, options) : new StdioLink(target, options);
    onStop(() => link.close());
    return link;
  }

  #inspect(message: unknown): void {
    if (!isRecord(message)) return;
    for (const each of missingCapabilities(message)) this.#missingCapabilities.add(each);
    const { method, params, result } = message;
    if (this.protocolVersion === WITHOUT_INITIALIZE) {
      if (isRecord(result) && result['resultType'] === undefined) this.#seen.add(UNTYPED_RESULT);
      if (refusesToAsk(message)) this.#seen.add(CANNOT_ASK);
    }
    if (method === 'notifications/progress' && isRecord(params))
      this.#progress.get(params['progressToken'])?.(params);
  }

  /** Records a request of the handshake and its answer; of the answer only the result of `work`, if it has one. */
  async #recorded<T>(method: string, work: () => Promise<T>): Promise<T> {
    this.lastMethod = method;
    const about = { from: 'client', to: 'tool', purpose: 'discovery', dialect: 'mcp' } as const;
    const { endpoint: url, headers } = this;
    const recorded = new RecordedRequest(this.options.log, {
      ...about,
      method,
      url,
      headers: { ...headers },
    });
    try {
      const done = await work();
      recorded.recordResponse(200, done === undefined ? {} : { body: Content.ofJson(done) });
      return done;
    } catch (error) {
      const failure = failureOfMcp(error);
      if (failure.kind === 'broken') recorded.recordBroken(failure.phase, failure.code);
      else recorded.recordResponse(failure.kind === 'status' ? failure.status : 200); // a JSON-RPC error is also an answer
      throw error;
    }
  }
}

/** Returns the endpoint for a transcript. For a command this is the program only: its arguments can be secrets. */
function endpointOf({ kind, name }: McpTarget): string {
  if (kind === 'http') return name;
  const word = name.split(/\s+/).find(each => !/^\w+=/.test(each)) ?? '';
  const program = word.replace(/^.*[/\\]/, '').replaceAll(/["']/g, '');
  return `stdio:${/^[\w@.-]{1,60}$/.test(program) ? program : ''}`;
}
