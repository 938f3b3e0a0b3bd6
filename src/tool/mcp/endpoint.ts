import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type Server,
} from '@modelcontextprotocol/server';
import { isRecord } from '../../text/is-record.js';
import { readJson } from '../../text/json.js';
import type { Answer, Incoming, Reply, Route } from '../../transport/server.js';
import { Claims } from './claims.js';
import { McpSessions } from './sessions.js';
import { answerOf, batchOf, rpcError, webRequest } from './web.js';

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
  readonly #claims = new Claims();
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

  /** Whoever still waits for an answer gets none. */
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
    return this.#claimed(request, value, () =>
      Array.isArray(value) && value.length > 0
        ? this.#answerBatch(value, () => webRequest(incoming, gone))
        : this.#answerLegacy(request, value),
    );
  };

  readonly #delete = async (incoming: Incoming): Promise<Answer> =>
    answerOf(await this.#sessions.handle(webRequest(incoming, hangUp(incoming))));

  /** An answer finds its call by the id: of two with the same one, one would never have an answer. */
  async #claimed(request: Request, message: unknown, answer: () => Promise<Reply>): Promise<Reply> {
    const claim = this.#claims.claim(request.headers.get('mcp-session-id'), message);
    if (!claim.ok)
      return rpcError(400, 'a request with this id is still being answered', INVALID_REQUEST, claim.id);
    try {
      return await answer();
    } finally {
      claim.release();
    }
  }

  /** Several messages in one (version 2025-03-26): each for itself, so that a call that is cancelled keeps no other's answer back. */
  async #answerBatch(messages: readonly unknown[], request: () => Request): Promise<Reply> {
    return batchOf(await Promise.all(messages.map(message => this.#answerLegacy(request(), message))));
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
