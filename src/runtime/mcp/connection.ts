import {
  Client,
  type PriorDiscovery,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SERVER_INFO_META_KEY,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import * as z from 'zod/mini';
import { type Log, RecordedRequest } from '../../events/log.js';
import { explainFailure, TransportError } from '../../http/client.js';
import type { Tool } from '../../protocol/toolset.js';
import { validate } from '../../protocol/validate.js';
import { missingFileHint } from '../../system/child.js';
import { systemClock } from '../../system/clock.js';
import type { Sink } from '../../system/streams.js';
import { type ErrorDetails, messageOf, ProtocolCliError } from '../../util/errors.js';
import { LIMITS } from '../../util/limits.js';
import { excerpt, formatDuration, longExcerpt, truncateBeforeToken } from '../../util/text.js';
import { isRecord, stringOrJson } from '../../util/values.js';
import { visibleLine } from '../../util/visible.js';
import { failureOfMcp, type Link, linkTo, type McpTarget, type MessageListener } from './transports.js';

interface McpOptions {
  readonly version: string;
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
}

/** The first protocol version without `initialize`: each request carries its version. */
const NEWEST: PriorDiscovery = {
  kind: 'modern',
  discover: { supportedVersions: ['2026-07-28'], capabilities: {} },
};

/** Time limit in ms for `server/discover`, since an older server may not answer it. */
const PROBE_MS = 3_000;

/** The longest delay of a Node.js timer, because the SDK has no value for "no limit". */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Number of notes that are shown. */
const SHOWN_NOTES = 5;

const discoverSchema = z.object({
  _meta: z.object({ [SERVER_INFO_META_KEY]: z.object({ name: z.string() }) }),
});

const hint = z.optional(z.boolean());

const toolSchema = z.object({
  name: z.string().check(z.minLength(1), z.maxLength(1_024)),
  description: z.optional(z.string()),
  inputSchema: z.record(z.string(), z.unknown()),
  outputSchema: z.optional(z.unknown()),
  annotations: z.optional(z.object({ readOnlyHint: hint, destructiveHint: hint, idempotentHint: hint })),
  execution: z.optional(z.object({ taskSupport: z.optional(z.unknown()) })),
});

const pageSchema = z.object({ tools: z.array(z.unknown()), nextCursor: z.nullish(z.string()) });

/**
 * Connects to a server and lists its tools. Over HTTP the newest protocol version is tried first. For a command `initialize` is tried
 * first, since some older servers exit on any other first message.
 * @throws ProtocolCliError with the cause.
 */
export async function connectMcp(target: McpTarget, options: McpOptions): Promise<McpServer> {
  const until = systemClock.now() + options.limitMs;
  const remainingMs = () => Math.max(1, until - systemClock.now());
  const server = new McpServer(target, options);
  const isHttp = target.kind === 'http';
  try {
    await server.open(isHttp ? NEWEST : undefined, remainingMs());
  } catch (error) {
    const failure = server.explain(error, isHttp ? 'server/discover' : 'initialize', options.limitMs);
    if (isHttp ? !isOlder(error) : !(error instanceof ProtocolError)) throw failure;
    await server.open(isHttp ? undefined : NEWEST, remainingMs()).catch((again: unknown) => {
      throw isHttp ? server.explain(again, 'initialize', options.limitMs) : failure;
    });
  }
  options.onStop(() => server.close());
  await server.list(remainingMs).catch((error: unknown) => {
    throw server.explain(error, 'tools/list', options.limitMs);
  });
  return server;
}

/** Whether this answer to `server/discover` could come from a server that supports only older versions. */
function isOlder(error: unknown): boolean {
  if (error instanceof TransportError) return error.phase === 'answer';
  if (error instanceof SdkHttpError) return ![401, 403].includes(error.status);
  return !(error instanceof UnauthorizedError);
}

export class McpServer {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  name = 'MCP server';
  readonly #tools = new Map<string, Tool>();
  /** Tools that can only be called as a task. */
  readonly #taskOnly = new Set<string>();
  readonly #notes: string[] = [];
  readonly #missingCapabilities = new Set<string>();
  /** The SDK's own progress handlers miss a notification that arrives just before the result. */
  readonly #progress = new Map<unknown, (params: unknown) => void>();
  #requests = 0;
  #elicit: Elicit | null = null;
  #link: Link;
  #client: Client | undefined;

  constructor(
    private readonly target: McpTarget,
    private readonly options: McpOptions,
  ) {
    this.endpoint = endpointOf(target);
    this.headers = target.headers ?? {};
    this.#link = this.#newLink();
  }

  get tools(): readonly Tool[] {
    return [...this.#tools.values()];
  }

  /** Returns the problems found so far in the list of tools and in the messages. */
  notes(): readonly string[] {
    const missing = [...this.#missingCapabilities].map(
      name => `the server needs the client capability ${name}, which protocol-cli does not offer`,
    );
    return [...this.#notes, ...this.#invalidLines(), ...missing];
  }

  /** @throws ProtocolCliError if the tool can only be called as a task. */
  checkCallable(tool: string): void {
    if (!this.#taskOnly.has(tool)) return;
    throw new ProtocolCliError(
      'usage',
      `${tool} can only be called as a task (taskSupport: required), and protocol-cli does not support MCP tasks`,
      { hint: 'Call another tool, or let the server offer this one with taskSupport: optional.' },
    );
  }

  /** @param prior the protocol version to use; if omitted, a version with `initialize` */
  async open(prior: PriorDiscovery | undefined, leftMs: number): Promise<void> {
    if (this.#client) this.#link = this.#newLink(); // an earlier attempt failed
    const { version } = this.options;
    const client = new Client(
      { name: 'protocol-cli', version },
      { capabilities: { elicitation: { form: {} } }, inputRequired: { maxRounds: LIMITS.mcpRounds.value } },
    );
    this.#client = client;
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq: { signal } }) => ({
      action: 'cancel',
      ...(await this.#elicit?.(params, signal)),
    }));
    await this.#recorded(prior ? 'server/discover' : 'initialize', async () => {
      const limits = { timeout: leftMs, ...(prior && { prior }) };
      await Promise.race([client.connect(this.#link, limits), this.#link.lost]);
      const timeoutMs = Math.min(leftMs, PROBE_MS);
      const discovered = prior && (await this.request('server/discover', {}, { timeoutMs }));
      const named = discoverSchema.safeParse(discovered);
      const { name } = named.success
        ? named.data._meta[SERVER_INFO_META_KEY]
        : (client.getServerVersion() ?? {});
      this.name = name ?? this.name;
    });
  }

  /** Requests all pages of `tools/list`. */
  async list(remainingMs: () => number): Promise<void> {
    const notes = await this.#recorded('tools/list', () => this.#readPages(remainingMs));
    const rest = notes.length - SHOWN_NOTES;
    this.#notes.push(...notes.slice(0, SHOWN_NOTES));
    if (rest > 0)
      this.#notes.push(`${rest} more ${rest === 1 ? 'problem' : 'problems'} in the list of tools`);
    const { log } = this.options;
    const operations = [...this.#tools.keys()];
    log.emit({ kind: 'loaded', base: null, endpoint: this.endpoint, toolset: this.name, operations });
  }

  /**
   * Sends a request and returns the unchanged result; the SDK's own schemas add and drop members. Rejects if the server refuses,
   * disconnects, or times out; see {@link McpServer.explain}.
   */
  request(
    method: string,
    params: Record<string, unknown>,
    { timeoutMs: timeout = MAX_TIMER_MS, signal, onProgress }: RequestLimits = {},
  ): Promise<unknown> {
    if (!this.#client) throw new Error('the connection is not open');
    const progressToken = `progress-${++this.#requests}`;
    if (onProgress) this.#progress.set(progressToken, onProgress);
    const more = onProgress ? { _meta: { progressToken } } : {};
    const limits = { timeout, ...(signal && { signal }) };
    const answer = this.#client.request({ method, params: { ...params, ...more } }, z.unknown(), limits);
    return Promise.race([answer, this.#link.lost]).finally(() => this.#progress.delete(progressToken));
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
      return await this.request('tools/call', params, limits);
    } finally {
      if (this.#elicit === elicit) this.#elicit = null;
    }
  }

  async close(): Promise<void> {
    await this.#client?.close();
  }

  /**
   * Converts the error of a rejected request.
   * @param limitMs the time limit of the request, if any
   */
  explain(error: unknown, method: string, limitMs?: number): ProtocolCliError {
    const { kind, name } = this.target;
    const failure = failureOfMcp(error);
    const failed = (code: 'no-discovery' | 'unreachable', why: string, details: ErrorDetails) =>
      new ProtocolCliError(code, `${name}: ${why}`, { ...details, cause: error });
    if (failure.kind === 'error') {
      const why = `the server refused ${method} with the error ${failure.code}: ${longExcerpt(failure.message, MAX_MESSAGE)}`;
      return failed('no-discovery', why, { hint: VERSION_HINT });
    }
    if (failure.kind === 'status') {
      const text = failure.text.trim();
      const details = {
        faults: text === '' ? [] : [longExcerpt(text, MAX_MESSAGE)],
        hint: hintOnStatus(failure.status),
      };
      return failed('no-discovery', `the server answered ${method} with ${failure.status}`, details);
    }
    if (kind === 'http' && error instanceof TransportError) return explainFailure(error, name, 'tool');
    const isTimeout = error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
    const time = limitMs === undefined ? '' : ` after ${formatDuration(limitMs)}`;
    const reason = isTimeout ? `${method} timed out${time}` : reasonOf(error, method);
    if (kind === 'http') return failed('unreachable', reason, { hint: ENDPOINT_HINT });
    const { lastLines = [] } = this.#link;
    const hasEnded = error instanceof TransportError && error.code === 'ENDED';
    const isSilent = hasEnded && method === 'initialize' && this.#invalidLines().length === 0;
    const hint = (isSilent ? missingFileHint(lastLines, this.target.cwd) : null) ?? STDIO_HINT;
    return new ProtocolCliError('command-failed', `the command "${name}": ${reason}`, {
      faults: [...this.#invalidLines(), ...lastLines],
      hint: isTimeout ? `${hint} ${DOWNLOAD_HINT}` : hint,
      cause: error,
    });
  }

  #newLink() {
    const { maxBytes, onStderr, onStop, onMessage } = this.options;
    const link = linkTo(this.target, {
      maxBytes,
      ...(onStderr && { onStderr }),
      onMessage: (message, way) => {
        onMessage?.(message, way);
        if (way === 'received') this.#inspect(message);
      },
    });
    onStop(() => link.close());
    return link;
  }

  #inspect(message: unknown): void {
    if (!isRecord(message)) return;
    for (const each of missingCapabilities(message)) this.#missingCapabilities.add(each);
    const { method, params } = message;
    if (method === 'notifications/progress' && isRecord(params))
      this.#progress.get(params['progressToken'])?.(params);
  }

  #invalidLines(): string[] {
    const { count, first } = this.#link.invalidLines ?? { count: 0, first: '' };
    if (count === 0) return [];
    const lines =
      count === 1 ? 'a line that is not a JSON-RPC message' : `${count} lines that are not JSON-RPC messages`;
    return [`it wrote ${lines} to its stdout: ${longExcerpt(first, MAX_MESSAGE)}`];
  }

  async #readPages(remainingMs: () => number): Promise<string[]> {
    const notes: string[] = [];
    const seen = new Set<string>();
    for (let cursor: string | null | undefined, pages = 1; ; pages++) {
      const page = await this.request('tools/list', cursor ? { cursor } : {}, { timeoutMs: remainingMs() });
      const checked = validate(pageSchema, page);
      if (!checked.ok) throw new Error(checked.faults.join('; '));
      notes.push(...checked.value.tools.flatMap(tool => this.#addTool(tool) ?? []));
      cursor = checked.value.nextCursor;
      if (!cursor) return notes;
      const { size } = this.#tools;
      if (seen.has(cursor) || pages >= LIMITS.pages.value || size >= LIMITS.mcpTools.value)
        return [`the list of tools does not end; stopped after ${pages} pages with ${size} tools`, ...notes];
      seen.add(cursor);
    }
  }

  /** Adds a tool; an invalid tool does not affect the others. Returns the problem, or null. */
  #addTool(foreign: unknown): string | null {
    const checked = validate(toolSchema, foreign);
    if (!checked.ok) {
      const { name = '' } = isRecord(foreign) ? foreign : {};
      return `the tool ${excerpt(stringOrJson(name))} cannot be used: ${checked.faults.join('; ')}`;
    }
    const { name, description = '', inputSchema, outputSchema, annotations = {}, execution } = checked.value;
    if (this.#tools.has(name)) return `the tool ${excerpt(name)} is listed twice; using the first`;
    const { readOnlyHint: readOnly, destructiveHint, idempotentHint: idempotent } = annotations;
    const destructive = readOnly === true ? undefined : destructiveHint; // has no meaning for a read-only tool
    this.#tools.set(name, {
      name,
      description,
      inputSchema,
      ...(outputSchema !== undefined && { outputSchema }),
      annotations: {
        ...(readOnly !== undefined && { readOnly }),
        ...(destructive !== undefined && { destructive }),
        ...(idempotent !== undefined && { idempotent }),
      },
    });
    if (execution?.taskSupport === 'required') this.#taskOnly.add(name);
    return null;
  }

  /** Records a request of the handshake and its answer. */
  async #recorded<T>(method: string, work: () => Promise<T>): Promise<T> {
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
      recorded.recordResponse(200);
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

const VERSION_HINT = 'Check that the server offers tools and supports a current MCP version.';

const DOWNLOAD_HINT = 'If the command downloads a package (npx), install it first.';

const STDIO_HINT = 'The command must write one JSON-RPC message per line to stdout, and nothing else.';

/** Maximum length of a quoted message of a server, in characters. */
const MAX_MESSAGE = 1_000;

const ENDPOINT_HINT = 'Is this the endpoint of an MCP server (Streamable HTTP)? It often ends in /mcp.';

function reasonOf(error: unknown, method: string): string {
  if (error instanceof TransportError) return error.message;
  const message = messageOf(error);
  return `the answer to ${method} is not valid MCP: ${longExcerpt(message, MAX_MESSAGE)}`;
}

function hintOnStatus(status: number): string {
  if (status === 401 || status === 403)
    return 'Give a token with --bearer <token | env:NAME>, or a header with -H.';
  if (status === 404 || status === 405) return ENDPOINT_HINT;
  if (status >= 300 && status < 400)
    return 'Redirects to another origin are not followed: give the final address.';
  return "See the server's log.";
}

const MISSING_CAPABILITY = -32_021;

const URL_ELICITATION_REQUIRED = -32_042;

/** Returns the capabilities that a server's message requires and this client does not offer. */
function missingCapabilities({ method, params, result, error }: Record<string, unknown>): readonly string[] {
  if (typeof method === 'string') return capabilitiesFor(method, params);
  if (isRecord(result) && result['resultType'] === 'input_required') {
    const { inputRequests } = result;
    const requests = Object.values(isRecord(inputRequests) ? inputRequests : {}).filter(isRecord);
    return requests.flatMap(request => capabilitiesFor(String(request['method']), request['params']));
  }
  if (!isRecord(error)) return [];
  if (error['code'] === URL_ELICITATION_REQUIRED) return ['elicitation.url'];
  const { requiredCapabilities: required } = isRecord(error['data']) ? error['data'] : {};
  if (error['code'] !== MISSING_CAPABILITY || !isRecord(required)) return [];
  const names = Object.keys(required).slice(0, SHOWN_NOTES);
  return names.map(name => visibleLine(truncateBeforeToken(name, 60)));
}

function capabilitiesFor(method: string, params: unknown): string[] {
  if (method === 'sampling/createMessage') return ['sampling'];
  if (method === 'roots/list') return ['roots'];
  const isUrl = method === 'elicitation/create' && isRecord(params) && params['mode'] === 'url';
  return isUrl ? ['elicitation.url'] : [];
}
