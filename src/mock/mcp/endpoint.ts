import { randomUUID } from 'node:crypto';
import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type Server,
  WebStandardStreamableHTTPServerTransport as Transport,
} from '@modelcontextprotocol/server';
import type { Answer, Incoming, Reply, Route } from '../../http/route.js';
import { readJson } from '../../util/json.js';
import { isRecord } from '../../util/values.js';

/** Clients may not end their sessions; beyond this number the oldest is closed. */
const MOST_SESSIONS = 1_000;

/**
 * The sessions of clients that speak a version of MCP before 2026-07-28 over HTTP: such a client begins one with `initialize`, and
 * names it with every request. Each has a server of its own.
 */
class McpSessions {
  readonly #transports = new Map<string, Transport>();

  constructor(
    private readonly server: () => Server,
    private readonly onTrouble: (error: Error) => void,
  ) {}

  /** @param parsedBody the JSON of its body */
  async handle(request: Request, parsedBody?: unknown): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id === null) return this.#begin(request, parsedBody);
    const transport = this.#transports.get(id);
    if (transport) return transport.handleRequest(request, { parsedBody });
    const error = { code: -32_001, message: 'Session not found' };
    return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 404 });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#transports.values()].map(transport => transport.close()));
    this.#transports.clear();
  }

  /** The transport answers with an error unless the request is `initialize`; then the server is closed again. */
  async #begin(request: Request, parsedBody: unknown): Promise<Response> {
    const transport: Transport = new Transport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: true,
      onsessioninitialized: id => this.#remember(id, transport),
      onsessionclosed: id => void this.#transports.delete(id),
    });
    const server = this.server();
    server.onerror = this.onTrouble;
    await server.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody });
    if (transport.sessionId === undefined) await server.close();
    return response;
  }

  async #remember(id: string, transport: Transport): Promise<void> {
    this.#transports.set(id, transport);
    const [oldest] = this.#transports.size > MOST_SESSIONS ? this.#transports : [];
    if (!oldest) return;
    this.#transports.delete(oldest[0]);
    await oldest[1].close();
  }
}

/** Names the requests of a message or batch; nothing before `initialize`. */
function requestKeys(
  session: string | null,
  message: unknown,
): readonly { id: string | number; key: string }[] {
  if (session === null) return [];
  return [message].flat().flatMap(each => {
    if (!isRecord(each) || !('method' in each)) return [];
    const { id } = each;
    return typeof id === 'string' || typeof id === 'number'
      ? [{ id, key: JSON.stringify([session, id]) }]
      : [];
  });
}

/** A request as the web's API has it, without its body: that is read already. */
function webRequest({ method, target, headers }: Incoming, signal: AbortSignal): Request {
  const fields = Object.entries(headers).flatMap(([name, value = '']): [string, string][] =>
    [value].flat().map(each => [name, each]),
  );
  return new Request(`http://${headers.host}${target}`, { method, headers: fields, signal });
}

/** Reads a whole response. A stream would never end, and none is served here. */
async function answerOf(response: Response): Promise<Answer> {
  const headers = Object.fromEntries(response.headers);
  if (headers['content-type']?.startsWith('text/event-stream')) {
    await response.body?.cancel();
    return rpcError(405, 'streams are not served here');
  }
  return { status: response.status, headers, body: new Uint8Array(await response.arrayBuffer()) };
}

/** Of JSON-RPC; `-32000` is a server's own. */
function rpcError(status: number, message: string, code = -32_000, id: unknown = null): Answer {
  const body = JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
  return { status, headers: { 'Content-Type': 'application/json' }, body };
}

export const MCP_PATH = '/mcp';

const INVALID_REQUEST = -32_600;

const METHOD_NOT_FOUND = -32_601;

const PARSE_ERROR = -32_700;

/**
 * MCP over Streamable HTTP, without its streams: every POST is answered with JSON. Clients of the version 2026-07-28 are served
 * request by request, older ones in sessions. Who may come in at all is the server's to judge, not ours.
 */
export class McpEndpoint {
  readonly #sessions: McpSessions;
  readonly #modern: McpHttpHandler;
  /** Requests that are being answered, by session and id. */
  readonly #answering = new Set<string>();
  #isClosed = false;
  /** Lets a request go whose call was cancelled: the SDK would never answer it. */
  readonly #abandoned = new WeakMap<Request, () => void>();

  /** @param origins of web pages that may send requests */
  constructor(
    server: () => Server,
    onTrouble: (error: Error) => void,
    private readonly origins: ReadonlySet<string>,
  ) {
    this.#sessions = new McpSessions(server, onTrouble);
    this.#modern = createMcpHandler(server, { legacy: 'reject', onerror: onTrouble });
  }

  get routes(): Route[] {
    const { origins } = this;
    const at = { name: MCP_PATH, serves: (path: string) => path === MCP_PATH, origins };
    const routes: Route[] = [
      { ...at, method: 'POST', accepts: 'json', handle: this.#post },
      { ...at, method: 'GET', accepts: 'nothing', handle: () => NO_STREAM },
      { ...at, method: 'DELETE', accepts: 'nothing', handle: this.#delete },
    ];
    if (origins.size === 0) return routes;
    const preflight: Route = { ...at, method: 'OPTIONS', accepts: 'nothing', handle: () => PREFLIGHT };
    return [...routes, preflight].map(route => ({ ...route, handle: forPages(route.handle, origins) }));
  }

  /** The call that came with this request was cancelled. */
  abandon(request: Request): void {
    this.#abandoned.get(request)?.();
  }

  /** Open requests get no answer. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#modern.close();
    await this.#sessions.close();
  }

  readonly #post = async (incoming: Incoming): Promise<Reply> => {
    const json = readJson(incoming.body);
    if (!json.ok) return rpcError(400, `Parse error: ${json.reason}`, PARSE_ERROR);
    const { value } = json;
    if (isRecord(value) && value['method'] === 'subscriptions/listen')
      return rpcError(200, 'subscriptions are not served here', METHOD_NOT_FOUND, value['id']);
    const gone = hangUp(incoming);
    const request = webRequest(incoming, gone);
    if (!(await isLegacyRequest(request, value)))
      return answerOf(await this.#modern.fetch(request, { parsedBody: value }));
    return this.#answerOnce(request, value, () => this.#answerLegacy(request, value));
  };

  readonly #delete = async (incoming: Incoming): Promise<Answer> =>
    answerOf(await this.#sessions.handle(webRequest(incoming, hangUp(incoming))));

  /** In a session each id stands for one request at a time (JSON-RPC 2.0, section 4): of two, one would never have an answer. */
  async #answerOnce(request: Request, message: unknown, answer: () => Promise<Reply>): Promise<Reply> {
    const keys = requestKeys(request.headers.get('mcp-session-id'), message);
    const taken = keys.find(
      ({ key }, index) => this.#answering.has(key) || keys.findIndex(each => each.key === key) < index,
    );
    if (taken)
      return rpcError(400, 'a request with this id is still being answered', INVALID_REQUEST, taken.id);
    for (const { key } of keys) this.#answering.add(key);
    try {
      return await answer();
    } finally {
      for (const { key } of keys) this.#answering.delete(key);
    }
  }

  #answerLegacy(request: Request, parsedBody: unknown): Promise<Reply> {
    const abandoned = new Promise<Reply>(resolve => {
      this.#abandoned.set(request, () => resolve(this.#isClosed ? 'reset' : { status: 202 }));
    });
    return Promise.race([this.#sessions.handle(request, parsedBody).then(answerOf), abandoned]);
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

/** Lets the pages of these origins read the answers. */
function forPages(handle: Route['handle'], origins: ReadonlySet<string>): Route['handle'] {
  return async incoming => {
    const reply = await handle(incoming);
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

/** Aborted where the client hangs up. */
function hangUp({ onGone }: Incoming): AbortSignal {
  const gone = new AbortController();
  onGone?.(() => gone.abort());
  return gone.signal;
}
