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

/** A request as the web's API has it, without its body: that is read already. Aborted when the client hangs up. */
function webRequest({ method, target, headers, onGone }: Incoming): Request {
  const gone = new AbortController();
  onGone?.(() => gone.abort());
  const fields = Object.entries(headers).flatMap(([name, value = '']): [string, string][] =>
    [value].flat().map(each => [name, each]),
  );
  return new Request(`http://${headers.host}${target}`, { method, headers: fields, signal: gone.signal });
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

const SESSION_NOT_FOUND = -32_001;

const METHOD_NOT_FOUND = -32_601;

const PARSE_ERROR = -32_700;

/**
 * MCP over Streamable HTTP, without its streams: every POST is answered with JSON. Clients of the version 2026-07-28 are served
 * request by request, older ones in sessions, each with a server of its own: such a client begins one with `initialize`, and names it
 * with every request. Who may come in at all is the server's to judge, not ours.
 */
export class McpEndpoint {
  /** By session, oldest first. */
  readonly #sessions = new Map<string, Transport>();
  readonly #modern: McpHttpHandler;
  #isClosed = false;
  /** Lets a request go whose call was cancelled: the SDK would never answer it. */
  readonly #abandoned = new WeakMap<Request, () => void>();

  /** @param origins of web pages that may send requests */
  constructor(
    private readonly server: () => Server,
    private readonly onTrouble: (error: Error) => void,
    private readonly origins: ReadonlySet<string>,
  ) {
    this.#modern = createMcpHandler(server, { legacy: 'reject', onerror: onTrouble });
  }

  get routes(): Route[] {
    const { origins } = this;
    const at = { name: MCP_PATH, serves: (path: string) => path === MCP_PATH, origins };
    const routes: Route[] = [
      { ...at, method: 'POST', accepts: 'json', handle: this.#post },
      { ...at, method: 'GET', accepts: 'nothing', handle: () => NO_STREAM },
      {
        ...{ ...at, method: 'DELETE', accepts: 'nothing' },
        handle: incoming => this.#inSession(webRequest(incoming), undefined),
      },
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
    await Promise.all([...this.#sessions.values()].map(transport => transport.close()));
  }

  readonly #post = async (incoming: Incoming): Promise<Reply> => {
    const json = readJson(incoming.body);
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

  /** @param parsedBody the JSON of its body */
  async #inSession(request: Request, parsedBody: unknown): Promise<Answer> {
    const id = request.headers.get('mcp-session-id');
    if (id === null) return answerOf(await this.#begin(request, parsedBody));
    const transport = this.#sessions.get(id);
    if (!transport) return rpcError(404, 'Session not found', SESSION_NOT_FOUND);
    return answerOf(await transport.handleRequest(request, { parsedBody }));
  }

  /** The transport answers with an error unless the request is `initialize`; then the server is closed again. */
  async #begin(request: Request, parsedBody: unknown): Promise<Response> {
    const transport: Transport = new Transport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: true,
      onsessioninitialized: async id => {
        this.#sessions.set(id, transport);
        const [[oldest, old] = []] = this.#sessions.size > MOST_SESSIONS ? this.#sessions : [];
        if (oldest !== undefined) this.#sessions.delete(oldest);
        await old?.close();
      },
      onsessionclosed: id => void this.#sessions.delete(id),
    });
    const server = this.server();
    server.onerror = this.onTrouble;
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
