import { randomUUID } from 'node:crypto';
import {
  type Server,
  WebStandardStreamableHTTPServerTransport as Transport,
} from '@modelcontextprotocol/server';

/** Nobody ends a session for certain; the oldest of more than these are ended. */
const MOST = 1_000;

/**
 * The sessions of clients that speak a version of MCP before 2026-07-28 over HTTP: such a client begins one with `initialize`, and
 * names it with every request. Each has a server of its own.
 */
export class McpSessions {
  readonly #transports = new Map<string, Transport>();

  constructor(
    private readonly server: () => Server,
    private readonly onTrouble: (error: Error) => void,
    private readonly most = MOST,
  ) {}

  /** @param parsedBody the JSON of its body */
  async handle(request: Request, parsedBody?: unknown): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id === null) return this.#begin(request, parsedBody);
    const transport = this.#transports.get(id);
    if (transport) return transport.handleRequest(request, { parsedBody });
    return Response.json(
      { jsonrpc: '2.0', id: null, error: { code: -32_001, message: 'Session not found' } },
      { status: 404 },
    );
  }

  async close(): Promise<void> {
    await Promise.all([...this.#transports.values()].map(transport => transport.close()));
    this.#transports.clear();
  }

  /** What does not begin one is told so by the transport, and leaves nothing behind. */
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
    const [oldest] = this.#transports.size > this.most ? this.#transports : [];
    if (!oldest) return;
    this.#transports.delete(oldest[0]);
    await oldest[1].close();
  }
}
