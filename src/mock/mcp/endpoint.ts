import { randomUUID } from 'node:crypto';
import {
  createMcpHandler,
  WebStandardStreamableHTTPServerTransport as HttpTransport,
  isLegacyRequest,
  type McpHttpHandler,
  type Server,
} from '@modelcontextprotocol/server';
import type { Answer, Incoming, Reply, Route } from '../../http/route.js';
import { headerMismatch } from '../../protocol/mcp-headers.js';
import { parseJson, readJson } from '../../util/json.js';
import { LIMITS } from '../../util/limits.js';
import { isRecord, valueAt } from '../../util/values.js';
import type { LocalTool } from '../local-tool.js';
import { AskingCalls } from './asking-calls.js';
import { mcpServer, reporter } from './mcp-server.js';

interface EndpointOptions {
  readonly program?: string;
  /** Origins of web pages that may call the endpoint. */
  readonly allowOrigins?: readonly string[];
}

/** Converts to a Fetch API request without a body, which was read already. It is aborted when the client disconnects. */
function webRequest(incoming: Incoming): Request {
  const { method, target, headers, base } = incoming;
  const gone = new AbortController();
  incoming.onGone(() => gone.abort());
  return new Request(base + target, { method, headers, signal: gone.signal });
}

/**
 * Converts a response. A stream of events is sent on as it comes, until its end or until `abandoned`; but as JSON if it has only answers.
 * @param isBatch whether the request was a list of messages
 */
async function answerOf(
  response: Response,
  {
    abandoned = NEVER,
    isBatch = false,
  }: { readonly abandoned?: Promise<unknown>; readonly isBatch?: boolean } = {},
): Promise<Answer> {
  const { status, body } = response;
  const headers = Object.fromEntries(response.headers);
  if (!body || !headers['content-type']?.startsWith('text/event-stream'))
    return { status, headers, body: new Uint8Array(await response.arrayBuffer()) };
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  const answers: unknown[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    const message = messageIn(value);
    if (!isRecord(message) || Object.hasOwn(message, 'method'))
      return { status, headers, pieces: piecesOf(chunks, reader, abandoned) };
    answers.push(message);
  }
  const { 'cache-control': _, connection: __, 'x-accel-buffering': ___, ...others } = headers;
  const json = { ...others, 'content-type': 'application/json' };
  return { status, headers: json, body: JSON.stringify(isBatch ? answers : answers[0]) };
}

const NEVER = new Promise<never>(() => {});

/** The message of an event: the SDK writes each as one chunk. */
function messageIn(event: Uint8Array): unknown {
  const data = /^data: (.*)$/m.exec(Buffer.from(event).toString('utf8'))?.[1];
  const json = data === undefined ? null : parseJson(data);
  return json?.ok ? json.value : null;
}

async function* piecesOf(
  first: readonly Uint8Array[],
  reader: ReadableStreamDefaultReader<Uint8Array>,
  abandoned: Promise<unknown>,
): AsyncGenerator<Uint8Array> {
  yield* first;
  const ended = abandoned.then(() => ({ done: true, value: undefined }) as const);
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), ended]);
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}

/** A JSON-RPC error; `-32000` is the generic server error. */
function rpcError(status: number, message: string, code = -32_000, id: unknown = null): Answer {
  const body = JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
  return { status, headers: { 'Content-Type': 'application/json' }, body };
}

export const MCP_PATH = '/mcp';

const SESSION_NOT_FOUND = -32_001;

const METHOD_NOT_FOUND = -32_601;

const HEADER_MISMATCH = -32_020;

/** Whether the answer says so; a fixture may answer a call with the same error. */
function isUnknownMethod(message: unknown, { body }: Answer): boolean {
  if (valueAt(message, 'method') === 'tools/call' || body === undefined) return false;
  const json = parseJson(Buffer.from(body).toString('utf8'));
  return json.ok && valueAt(json.value, 'error', 'code') === METHOD_NOT_FOUND;
}

const PARSE_ERROR = -32_700;

/**
 * MCP over Streamable HTTP: a POST is answered with JSON, or with a stream if messages come before the answer. Clients of version 2026-07-28 are served request by
 * request. Older ones get a session with its own server: they start it with `initialize` and send its id with every request. The guard
 * of the HTTP server checks access, not this class.
 */
export class McpEndpoint {
  /** By session id, oldest first. */
  readonly #sessions = new Map<string, HttpTransport>();
  readonly #modern: McpHttpHandler;
  readonly #asking = new AskingCalls();
  #isClosed = false;
  /** Ends the request of a canceled call, which the SDK would never answer. */
  readonly #abandoned = new WeakMap<Request, () => void>();

  readonly #report: (error: Error) => void;
  /** Origins of web pages that may send requests. */
  readonly #origins: ReadonlySet<string>;

  constructor(
    private readonly tool: LocalTool,
    private readonly options: EndpointOptions,
  ) {
    this.#report = reporter(tool);
    this.#origins = new Set(options.allowOrigins);
    this.#modern = createMcpHandler(() => this.#server(), { legacy: 'reject', onerror: this.#report });
  }

  get routes(): Route[] {
    const origins = this.#origins;
    const at = {
      name: MCP_PATH,
      serves: (path: string) => path === MCP_PATH,
      origins,
      browsers: 'same-origin',
    } as const;
    const routes: Route[] = [
      { ...at, method: 'POST', accepts: 'json', handle: this.#post },
      {
        ...at,
        method: 'GET',
        accepts: 'nothing',
        handle: () => ({ ...NO_STREAM, headers: { ...NO_STREAM.headers, Allow: 'POST, DELETE' } }),
      },
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
    return mcpServer(this.tool, this.#asking, this.options, request => this.#abandoned.get(request)?.());
  }

  readonly #post = async (incoming: Incoming, body: Uint8Array): Promise<Reply> => {
    const json = readJson(body);
    if (!json.ok) return rpcError(400, `Parse error: ${json.reason}`, PARSE_ERROR);
    const { value } = json;
    if (isRecord(value) && value['method'] === 'subscriptions/listen')
      return rpcError(404, 'subscriptions are not served here', METHOD_NOT_FOUND, value['id']);
    const request = webRequest(incoming);
    if (!(await isLegacyRequest(request, value))) {
      const refusal = this.#headerRefusal(value, incoming);
      if (refusal) return refusal;
      const answer = await answerOf(await this.#modern.fetch(request, { parsedBody: value }));
      return isUnknownMethod(value, answer) ? { ...answer, status: 404 } : answer;
    }
    const abandoned = new Promise<Reply>(resolve => {
      this.#abandoned.set(request, () => resolve(this.#isClosed ? 'reset' : { status: 202 }));
    });
    return Promise.race([this.#inSession(request, value, abandoned), abandoned]);
  };

  /** Refuses a call whose headers do not mirror its annotated arguments (`x-mcp-header`). */
  #headerRefusal(message: unknown, { headers }: Incoming): Answer | null {
    if (valueAt(message, 'method') !== 'tools/call') return null;
    const name = valueAt(message, 'params', 'name');
    const tool = this.tool.mock.toolset.tools.find(each => each.name === name);
    const mismatch = headerMismatch(tool?.inputSchema, valueAt(message, 'params', 'arguments'), headers);
    return mismatch === null ? null : rpcError(400, mismatch, HEADER_MISMATCH, valueAt(message, 'id'));
  }

  /** @param parsedBody the JSON of the body */
  async #inSession(
    request: Request,
    parsedBody: unknown,
    abandoned: Promise<unknown> = NEVER,
  ): Promise<Answer> {
    const options = { abandoned, isBatch: Array.isArray(parsedBody) };
    const id = request.headers.get('mcp-session-id');
    if (id === null) return answerOf(await this.#begin(request, parsedBody), options);
    const transport = this.#sessions.get(id);
    if (!transport) return rpcError(404, 'Session not found', SESSION_NOT_FOUND);
    return answerOf(await transport.handleRequest(request, { parsedBody }), options);
  }

  /** Starts a session. The transport answers with an error unless the request is `initialize`; then the server is closed again. */
  async #begin(request: Request, parsedBody: unknown): Promise<Response> {
    const transport: HttpTransport = new HttpTransport({
      sessionIdGenerator: randomUUID,
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

const NO_STREAM = rpcError(405, 'streams are not served here');
