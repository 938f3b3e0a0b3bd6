import { Content } from '../../events/content.js';
import type { RecordedRequest } from '../../events/log.js';
import type { Denial, Incoming, Reply, Route } from '../../http/route.js';
import { type RunningServer, startServer } from '../../http/server.js';
import {
  createStreamingClient,
  type StreamedAnswer,
  type StreamingClient,
} from '../../http/streaming-client.js';
import { TransportError } from '../../http/transport-error.js';
import { RecentMap } from '../../util/collections.js';
import { LIMITS } from '../../util/limits.js';
import { passedHeaders } from '../forwarder.js';
import { AnswerEvents, type ObservedAnswer, UNREAD, WholeAnswer } from './answers.js';
import { MessageReader } from './message-reader.js';
import type { McpConnection, McpObserver } from './observer.js';

interface ProxyOptions {
  /** The URL of the server. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Host names besides loopback that requests may use. */
  readonly allowHosts: readonly string[];
  /** The largest request, and the largest message that is recorded, in bytes. */
  readonly maxBody: number;
  /** How long to wait at the end for answers, in ms. */
  readonly drainMs: number;
}

interface McpProxy {
  readonly port: number;
  /** The URL to give to the client instead of the server's. */
  readonly url: string;
  /** Ends streams without a call, waits for the others, then aborts the rest. */
  close(): Promise<void>;
}

/**
 * A proxy between MCP clients and a server (MCP, "Streamable HTTP"). Every request goes to the origin of the server, and its answer is
 * passed on while it comes; what is sent to the server's own path is recorded.
 * @throws ProtocolCliError `port-in-use`; `usage` for an invalid address or host
 */
export async function startMcpProxy(observer: McpObserver, options: ProxyOptions): Promise<McpProxy> {
  const { host, port, allowHosts, maxBody, drainMs } = options;
  const client = createStreamingClient();
  const forwarder = new McpForwarder(observer, client, options);
  const server: RunningServer = await startServer({
    host,
    port,
    maxBody,
    allowedHosts: allowHosts,
    limits: { closeMs: drainMs },
    routes: [forwarder.route],
    onRefused: (denial, request) => forwarder.warnOfRefusal(denial, request),
  });
  const { pathname, search } = new URL(options.url);
  return {
    port: server.port,
    url: server.url + pathname + search,
    async close() {
      forwarder.endStreams();
      await server.close();
      await client.close();
      forwarder.end();
    },
  };
}

/** A request to the server's path: what is observed of it and of its answer. */
interface Observed {
  readonly connection: McpConnection;
  readonly messages: MessageReader;
  /** The JSON that was posted; undefined without a body. */
  readonly posted: unknown;
  readonly session: string | undefined;
}

const SESSION = 'mcp-session-id';

/** Makes the server send the head of an answer before its first piece. */
const NOTHING = new Uint8Array(0);

class McpForwarder {
  /** By their ids. Without a session, each request is a connection of its own. */
  readonly #sessions = new RecentMap<string, McpConnection>(LIMITS.callsRemembered.value);
  readonly #streams = new Set<AbortController>();
  readonly #origin: string;
  readonly #path: string;

  constructor(
    private readonly observer: McpObserver,
    private readonly client: StreamingClient,
    private readonly options: ProxyOptions,
  ) {
    const { origin, pathname } = new URL(options.url);
    this.#origin = origin;
    this.#path = pathname;
  }

  get route(): Route {
    return { name: 'mcp', method: 'any', accepts: 'anything', serves: () => true, handle: this.#handle };
  }

  warnOfRefusal({ status, reason, detail }: Denial, { method, maskedTarget }: Incoming): void {
    if (reason === 'failed') return; // an answer that broke off is recorded
    this.observer.warn(`a request was refused with ${status} (${detail}): ${method} ${maskedTarget}`);
  }

  /** Ends the streams that clients got with GET: they would not end by themselves. */
  endStreams(): void {
    for (const stream of this.#streams) stream.abort();
  }

  end(): void {
    for (const connection of this.#sessions.values()) connection.end('CLOSED');
  }

  readonly #handle = async (incoming: Incoming, body: Uint8Array): Promise<Reply> => {
    const { method, headers, target } = incoming;
    const gone = new AbortController();
    incoming.onGone(() => gone.abort());
    if (method === 'GET') this.#streams.add(gone);
    const sending = this.client.send({
      method,
      url: this.#origin + target,
      headers: passedHeaders(headers),
      signal: gone.signal,
      ...(body.length > 0 && { body }),
    });
    const observed = incoming.path === this.#path ? this.#observe(incoming, body) : null;
    try {
      const answer = await sending;
      const reader = observed ? this.#readerOf(answer, observed) : UNREAD;
      const { status, headers: given, cookies } = answer;
      const passed = { ...passedHeaders(given), ...(cookies.length > 0 && { 'set-cookie': [...cookies] }) };
      const over = () => {
        this.#streams.delete(gone);
        if (observed && observed.session === undefined) broken(observed, 'ECONNRESET');
      };
      return { status, headers: passed, pieces: passedOn(answer, reader, over) };
    } catch (error) {
      this.#streams.delete(gone);
      const code = error instanceof TransportError ? error.code : 'ABORTED';
      if (observed) broken(observed, code);
      if (code === 'ABORTED' || code === 'ECONNRESET') return 'reset';
      return { status: 502, body: `The recorder got no answer from the server: ${code}.\n` };
    }
  };

  #observe({ method, headers }: Incoming, body: Uint8Array): Observed {
    const { observer } = this;
    const session = headers[SESSION];
    const connection =
      session === undefined ? observer.connection() : this.#sessions.of(session, () => observer.connection());
    if (method === 'DELETE' && session !== undefined) this.#sessions.delete(session);
    const messages = new MessageReader(observer, connection, this.options.maxBody);
    const posted = body.length > 0 ? messages.read(body, 'client', headers) : undefined;
    return { connection, messages, posted, session };
  }

  #readerOf(answer: StreamedAnswer, observed: Observed): ObservedAnswer {
    const { status, headers } = answer;
    const { connection, messages, posted, session } = observed;
    const { [SESSION]: begun, 'content-type': type = '', 'content-encoding': encoding } = headers;
    if (session === undefined && begun !== undefined) this.#sessions.set(begun, connection);
    if (encoding !== undefined && encoding !== 'identity') {
      this.observer.warn('an answer is encoded, and is not recorded');
      return UNREAD;
    }
    if (status >= 300)
      return new WholeAnswer(messages, bytes => {
        const body = new Content(bytes);
        if (body.json.ok) connection.sees(body.json.value, 'tool'); // an error of JSON-RPC answers its request
        connection.settle(posted, recorded => recorded.recordResponse(status, { body }));
      });
    if (/^text\/event-stream\b/i.test(type)) return new AnswerEvents(messages);
    if (!/^application\/json\b/i.test(type)) return UNREAD;
    return new WholeAnswer(messages, bytes => void messages.read(bytes, 'tool'));
  }
}

function broken({ connection, posted }: Observed, code: string): void {
  connection.settle(posted, (recorded: RecordedRequest) => recorded.recordBroken('answer', code));
}

/** Passes an answer on, and reads it. @param over called when nothing more is passed on */
async function* passedOn(
  { body }: StreamedAnswer,
  reader: ObservedAnswer,
  over: () => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield NOTHING;
    for await (const chunk of body) {
      yield chunk;
      reader.add(chunk);
    }
    reader.end();
  } finally {
    over();
  }
}
