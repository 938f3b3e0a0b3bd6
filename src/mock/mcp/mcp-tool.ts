import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import {
  createMcpHandler,
  WebStandardStreamableHTTPServerTransport as HttpTransport,
  isLegacyRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type McpHttpHandler,
  type Tool as McpToolOfServer,
  ProtocolError,
  ProtocolErrorCode,
  parseJSONRPCMessage,
  Server,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod/mini';
import type { FixtureSet } from '../../fixtures/fixture-set.js';
import type { Answer, Incoming, Reply, Route } from '../../http/route.js';
import type { Tool } from '../../protocol/toolset.js';
import { validate } from '../../protocol/validate.js';
import { readJson } from '../../util/json.js';
import { LIMITS } from '../../util/limits.js';
import { bytesText, LineSplitter, truncateBeforeToken } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import { visibleLine } from '../../util/visible.js';
import { LocalTool, type LocalToolOptions } from '../local-tool.js';
import { DEFAULTS } from '../mock.js';
import { type ServerOptions, serveMock } from '../serve.js';

export { leftOut } from '../local-tool.js';

const MAX_MESSAGE = 300;

/** Logs problems with a client's messages as warnings. The SDK's texts may quote the messages. */
function reporter(tool: LocalTool): (error: Error) => void {
  return ({ message }) => tool.mock.warn(`MCP: ${visibleLine(truncateBeforeToken(message, MAX_MESSAGE))}`);
}

export interface Ends {
  readonly stdin: Readable;
  /** Must not be written to by anything else. */
  readonly stdout: Writable;
}

/**
 * JSON-RPC in lines (MCP, "stdio"). Unlike the SDK's transport, it limits the length of lines, reports invalid ones, and answers open
 * requests before it closes.
 */
class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  #isClosed = false;
  #onOver: () => void = () => {};
  /** Resolves when either side has closed it. */
  readonly over = new Promise<void>(resolve => {
    this.#onOver = resolve;
  });
  readonly #lines: LineSplitter;

  /**
   * @param maxBody maximum length of a line, in bytes
   * @param drain resolves once every request is answered
   */
  constructor(
    private readonly ends: Ends,
    private readonly maxBody: number,
    private readonly drain: () => Promise<void>,
  ) {
    this.#lines = new LineSplitter(maxBody, line => this.#receive(line));
  }

  async start(): Promise<void> {
    const { stdin, stdout } = this.ends;
    stdin.on('data', this.#read).on('end', this.#finish).on('error', this.#fail);
    stdout.on('error', this.#fail);
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      this.ends.stdout.write(`${JSON.stringify(message)}\n`, error => (error ? reject(error) : resolve()));
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { stdin } = this.ends;
    stdin.off('data', this.#read).off('end', this.#finish).pause(); // the streams stay open, and may fail later
    this.onclose?.();
    this.#onOver();
  }

  readonly #read = (chunk: Uint8Array): void => {
    if (!this.#lines.add(chunk)) this.#fail(new Error(`a line is longer than ${bytesText(this.maxBody)}`));
  };

  readonly #finish = async (): Promise<void> => {
    await new Promise(setImmediate); // lets the last request reach the tool
    await this.drain();
    await new Promise(setImmediate); // lets the last answer be written
    await this.close();
  };

  /** Closes the connection, because the start of the next line is unknown. */
  readonly #fail = (error: Error): void => {
    this.onerror?.(error);
    void this.close();
  };

  #receive(line: Uint8Array): void {
    const json = readJson(line);
    if (json.ok) this.#deliver(json.value);
    else if (line.some(byte => byte > 0x20))
      this.onerror?.(new Error(`invalid JSON in a line: ${json.reason}`));
  }

  #deliver(value: unknown): void {
    let message: JSONRPCMessage | null = null;
    try {
      message = parseJSONRPCMessage(value);
    } catch {
      this.onerror?.(new Error('a line is not a JSON-RPC message'));
    }
    if (message) this.onmessage?.(message);
  }
}

const paramsSchema = z.object({
  name: z.string(),
  arguments: z.optional(z.record(z.string(), z.unknown())),
});

/** The thread of calls without a session, as over stdin. */
const ONE_THREAD = 'mcp';

/**
 * Answers `tools/call`.
 * @throws ProtocolError for an invalid call or an unknown tool.
 */
async function callTool(
  tool: LocalTool,
  { params }: JSONRPCRequest,
  { mcpReq, sessionId, http }: ServerContext,
): Promise<Record<string, unknown>> {
  const checked = validate(paramsSchema, params ?? {});
  if (!checked.ok) {
    const problem = `the call is malformed: ${checked.faults.join('; ')}`;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, problem);
  }
  const { name, arguments: args = {} } = checked.value;
  const signal = http?.req ? AbortSignal.any([mcpReq.signal, http.req.signal]) : mcpReq.signal;
  const { sent } = await tool.call({
    operation: name,
    arguments: args,
    id: String(mcpReq.id),
    groupId: sessionId ?? ONE_THREAD,
    headers: http?.req ? Object.fromEntries(http.req.headers) : {},
    signal,
  });
  if (sent === undefined) return silence(signal);
  const result = isRecord(sent) ? sent : {};
  const { error } = result;
  if (isRecord(error) && Object.keys(result).length === 1)
    throw new ProtocolError(Number(error['code']), String(error['message']));
  return result;
}

/** Never resolves; rejects when the request is canceled. */
function silence(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(new ProtocolError(ProtocolErrorCode.InternalError, 'the call was canceled'));
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}

function toolOf({ name, description, inputSchema, outputSchema, annotations }: Tool): McpToolOfServer {
  const { readOnly, destructive, idempotent } = annotations ?? {};
  const hints = {
    ...(readOnly !== undefined && { readOnlyHint: readOnly }),
    ...(destructive !== undefined && { destructiveHint: destructive }),
    ...(idempotent !== undefined && { idempotentHint: idempotent }),
  };
  return {
    name,
    description,
    inputSchema: { ...inputSchema, type: 'object' }, // MCP requires a `type`, and arguments are always objects
    ...(isRecord(outputSchema) && { outputSchema: { ...outputSchema, type: 'object' as const } }),
    ...(annotations && { annotations: hints }),
  };
}

/**
 * Creates the server of one connection. `tools/call` bypasses the SDK's handlers: they would validate results and drop or refuse
 * unknown fields, but a whole result is sent verbatim (seed 003).
 * @param onCanceled called when the client cancels the call of this request, which then gets no answer from the SDK
 */
function mcpServer(
  tool: LocalTool,
  { program = 'protocol-cli/0' }: McpToolOptions,
  onCanceled?: (request: Request) => void,
): Server {
  const { name, description: instructions } = tool.mock.toolset;
  const tools = onCanceled ? {} : { listChanged: true }; // no streams over HTTP to notify clients
  const server = new Server(
    { name, version: program.slice(program.indexOf('/') + 1) },
    { capabilities: { tools }, ...(instructions !== undefined && { instructions }) },
  );
  server.setRequestHandler('tools/list', () => ({ tools: tool.mock.toolset.tools.map(toolOf) }));
  server.fallbackRequestHandler = (request, context) => {
    const { http, mcpReq } = context;
    const canceled = () => http?.req && onCanceled?.(http.req);
    mcpReq.signal.addEventListener('abort', canceled, { once: true });
    if (request.method === 'tools/call') return callTool(tool, request, context);
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
  };
  return server;
}

export type McpToolOptions = Omit<LocalToolOptions, 'mcpUrl' | 'log'> &
  ServerOptions & {
    /** Origins of web pages that may call the MCP endpoint, such as `http://localhost:6274`. */
    readonly allowOrigins?: readonly string[];
  };

export interface McpAddress {
  readonly port: number;
  /** The base URL of the server. */
  readonly base: string;
  /** The URL of the MCP endpoint. */
  readonly url: string;
}

/** Fixtures and handlers, served to MCP clients (seed 003). */
export class McpTool implements AsyncDisposable {
  #closed: Promise<void> | undefined;

  /**
   * @param tool answers the calls and logs the events
   * @param address over HTTP; null over stdio
   * @param over resolves when the only client is gone; never over HTTP
   * @param servers connected servers that can notify their clients
   */
  constructor(
    readonly tool: LocalTool,
    readonly address: McpAddress | null,
    readonly over: Promise<void>,
    private readonly servers: ReadonlySet<Server>,
    private readonly end: () => Promise<void>,
  ) {}

  /** Replaces the fixtures from the next call on, and notifies clients if possible. @throws ProtocolCliError `invalid-toolset`. */
  async replaceFixtures(fixtures: FixtureSet): Promise<void> {
    await this.tool.replaceFixtures(fixtures);
    for (const server of this.servers) await server.sendToolListChanged().catch(() => {}); // a closed server rejects
  }

  /** Answers pending calls at once, then closes everything. */
  close(): Promise<void> {
    this.#closed ??= this.end();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Serves one client over stdin and stdout. @throws ProtocolCliError `invalid-toolset`. */
export async function serveMcpStdio(options: McpToolOptions, ends: Ends): Promise<McpTool> {
  const tool = await LocalTool.start({ ...options, mcpUrl: 'stdio:' });
  const servers = new Set<Server>();
  const factory = () => {
    const server = mcpServer(tool, options);
    servers.add(server);
    return server;
  };
  const transport = new LineTransport(ends, options.maxBody ?? DEFAULTS.maxBody, () => tool.close());
  const serving = serveStdio(factory, { transport, onerror: reporter(tool) });
  return new McpTool(tool, null, transport.over, servers, async () => {
    await tool.close();
    await serving.close();
  });
}

/**
 * Serves any number of clients over Streamable HTTP, behind the same guard as every server here, with the mock's own controls.
 * @throws ProtocolCliError `invalid-toolset`, `port-in-use`, `usage`.
 */
export async function serveMcpHttp(options: McpToolOptions): Promise<McpTool> {
  const tool = await LocalTool.start({ ...options, mcpUrl: MCP_PATH });
  const endpoint = new McpEndpoint(tool, options);
  const { mock } = tool;
  const server = await serveMock(mock, options, {
    routes: endpoint.routes,
    reset: key => mock.reset(key),
    refused: (denial, request) => mock.warnOfRefusal(denial, request),
  });
  const address = { port: server.port, base: server.url, url: server.url + MCP_PATH };
  return new McpTool(tool, address, new Promise<never>(() => {}), new Set(), async () => {
    const closing = server.close();
    await tool.close();
    await endpoint.close();
    await closing;
  });
}

/** Converts to a Fetch API request without a body, which was read already. It is aborted when the client disconnects. */
function webRequest(incoming: Incoming): Request {
  const { method, target, headers, base } = incoming;
  const gone = new AbortController();
  incoming.onGone(() => gone.abort());
  return new Request(base + target, { method, headers, signal: gone.signal });
}

/** Reads a whole response. Streams are not supported: they would never end. */
async function answerOf(response: Response): Promise<Answer> {
  const headers = Object.fromEntries(response.headers);
  if (headers['content-type']?.startsWith('text/event-stream')) {
    await response.body?.cancel();
    return rpcError(405, 'streams are not served here');
  }
  return { status: response.status, headers, body: new Uint8Array(await response.arrayBuffer()) };
}

/** A JSON-RPC error; `-32000` is the generic server error. */
function rpcError(status: number, message: string, code = -32_000, id: unknown = null): Answer {
  const body = JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
  return { status, headers: { 'Content-Type': 'application/json' }, body };
}

const MCP_PATH = '/mcp';

const SESSION_NOT_FOUND = -32_001;

const METHOD_NOT_FOUND = -32_601;

const PARSE_ERROR = -32_700;

/**
 * MCP over Streamable HTTP without streams: every POST is answered with JSON. Clients of version 2026-07-28 are served request by
 * request. Older ones get a session with its own server: they start it with `initialize` and send its id with every request. The guard
 * of the HTTP server checks access, not this class.
 */
class McpEndpoint {
  /** By session id, oldest first. */
  readonly #sessions = new Map<string, HttpTransport>();
  readonly #modern: McpHttpHandler;
  #isClosed = false;
  /** Ends the request of a canceled call, which the SDK would never answer. */
  readonly #abandoned = new WeakMap<Request, () => void>();

  readonly #report: (error: Error) => void;
  /** Origins of web pages that may send requests. */
  readonly #origins: ReadonlySet<string>;

  constructor(
    private readonly tool: LocalTool,
    private readonly options: McpToolOptions,
  ) {
    this.#report = reporter(tool);
    this.#origins = new Set(options.allowOrigins);
    this.#modern = createMcpHandler(() => this.#server(), { legacy: 'reject', onerror: this.#report });
  }

  get routes(): Route[] {
    const origins = this.#origins;
    const at = { name: MCP_PATH, serves: (path: string) => path === MCP_PATH, origins };
    const routes: Route[] = [
      { ...at, method: 'POST', accepts: 'json', handle: this.#post },
      { ...at, method: 'GET', accepts: 'nothing', handle: () => NO_STREAM },
      {
        ...at,
        method: 'DELETE',
        accepts: 'nothing',
        handle: incoming => this.#inSession(webRequest(incoming), undefined),
      },
    ];
    if (origins.size === 0) return routes;
    const preflight: Route = { ...at, method: 'OPTIONS', accepts: 'nothing', handle: () => PREFLIGHT };
    return [...routes, preflight].map(route => ({ ...route, handle: forPages(route.handle, origins) }));
  }

  /** Closes all sessions; open requests get no answer. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#modern.close();
    await Promise.all([...this.#sessions.values()].map(transport => transport.close()));
  }

  #server(): Server {
    return mcpServer(this.tool, this.options, request => this.#abandoned.get(request)?.());
  }

  readonly #post = async (incoming: Incoming, body: Uint8Array): Promise<Reply> => {
    const json = readJson(body);
    if (!json.ok) return rpcError(400, `Parse error: ${json.reason}`, PARSE_ERROR);
    const { value } = json;
    if (isRecord(value) && value['method'] === 'subscriptions/listen')
      return rpcError(200, 'subscriptions are not served here', METHOD_NOT_FOUND, value['id']);
    const request = webRequest(incoming);
    if (!(await isLegacyRequest(request, value)))
      return answerOf(await this.#modern.fetch(request, { parsedBody: value }));
    const abandoned = new Promise<Reply>(resolve => {
      this.#abandoned.set(request, () => resolve(this.#isClosed ? 'reset' : { status: 202 }));
    });
    return Promise.race([this.#inSession(request, value), abandoned]);
  };

  /** @param parsedBody the JSON of the body */
  async #inSession(request: Request, parsedBody: unknown): Promise<Answer> {
    const id = request.headers.get('mcp-session-id');
    if (id === null) return answerOf(await this.#begin(request, parsedBody));
    const transport = this.#sessions.get(id);
    if (!transport) return rpcError(404, 'Session not found', SESSION_NOT_FOUND);
    return answerOf(await transport.handleRequest(request, { parsedBody }));
  }

  /** Starts a session. The transport answers with an error unless the request is `initialize`; then the server is closed again. */
  async #begin(request: Request, parsedBody: unknown): Promise<Response> {
    const transport: HttpTransport = new HttpTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: true,
      onsessioninitialized: async id => {
        this.#sessions.set(id, transport);
        const [[oldest, old] = []] = this.#sessions.size > LIMITS.mcpSessions.value ? this.#sessions : [];
        if (oldest !== undefined) this.#sessions.delete(oldest);
        await old?.close();
      },
      onsessionclosed: id => void this.#sessions.delete(id),
    });
    const server = this.#server();
    server.onerror = this.#report;
    await server.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody });
    if (transport.sessionId === undefined) await server.close();
    return response;
  }
}

const PREFLIGHT: Answer = {
  status: 204,
  headers: {
    'Access-Control-Allow-Methods': 'POST, DELETE',
    'Access-Control-Allow-Headers':
      'Content-Type, Accept, Authorization, Last-Event-ID, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name',
    'Access-Control-Max-Age': '600',
  },
};

/** Adds CORS headers, so that pages of these origins can read the answers. */
function forPages(handle: Route['handle'], origins: ReadonlySet<string>): Route['handle'] {
  return async (incoming, body) => {
    const reply = await handle(incoming, body);
    const { origin } = incoming.headers;
    if (reply === 'reset' || origin === undefined || !origins.has(origin)) return reply;
    const headers = {
      ...reply.headers,
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Expose-Headers': 'Mcp-Session-Id, MCP-Protocol-Version',
      Vary: 'Origin',
    };
    return { ...reply, headers };
  };
}

const NO_STREAM: Answer = {
  ...rpcError(405, 'streams are not served here'),
  headers: { Allow: 'POST, DELETE' },
};
