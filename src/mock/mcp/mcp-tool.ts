import type { Readable, Writable } from 'node:stream';
import {
  type JSONRPCMessage,
  type JSONRPCRequest,
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
import { readAs, writeAs } from '../../dialects/dialects.js';
import type { FixtureSet } from '../../fixtures/fixture-set.js';
import { type RunningServer, startServer } from '../../http/server.js';
import type { Tool } from '../../protocol/toolset.js';
import { validate } from '../../protocol/validate.js';
import { systemClock } from '../../system/drafts.js';
import { readJson } from '../../util/json.js';
import { bytesText, cut, isRecord } from '../../util/json-diagnosis.js';
import { LineSplitter } from '../../util/strings.js';
import { visibleLine } from '../../util/visible.js';
import { DEFAULTS } from '../defaults.js';
import { JournalReports } from '../journal/report.js';
import {
  answerOfLocal,
  type LocalTool,
  type LocalToolOptions,
  readAsRap,
  type SpokenReply,
  startLocalTool,
  type Wire,
  type Written,
  wireOfResult,
} from '../local-tool.js';
import { type MockToolOptions, refusalText } from '../mock-state.js';
import type { ToolsetFields } from '../responder.js';
import { adminRoutes } from '../routes.js';
import { MCP_PATH, McpEndpoint } from './endpoint.js';

const LONGEST = 300;

/** Tells what the SDK makes of a client's messages, in short: it may quote them. */
function teller(tool: Pick<LocalTool, 'warn'>): (error: Error) => void {
  return ({ message }) => tool.warn(`MCP: ${visibleLine(cut(message, LONGEST))}`);
}

interface PageOptions {
  /** Origins of web pages that may call the MCP endpoint, such as `http://localhost:6274`. */
  readonly allowOrigins?: readonly string[];
}

type HttpOptions = Pick<MockToolOptions, 'host' | 'port' | 'allowHosts' | 'maxBody' | 'program' | 'clock'> &
  PageOptions;

/**
 * Opens the server of the endpoint, behind the guard that every server here has, with the mock's own controls beside it.
 * @param serverFor makes a server of the SDK's, which says when the call of a request was cancelled
 * @throws ProtocolCliError `port-in-use`, `usage`.
 */
async function openHttp(
  tool: LocalTool,
  {
    host,
    port,
    allowHosts = [],
    allowOrigins = [],
    maxBody = DEFAULTS.maxBody,
    program = 'protocol-cli',
    clock = systemClock,
  }: HttpOptions,
  serverFor: (onCancelled: (request: Request) => void) => Server,
): Promise<{ readonly server: RunningServer; readonly endpoint: McpEndpoint }> {
  const endpoint: McpEndpoint = new McpEndpoint(
    () => serverFor(request => endpoint.abandon(request)),
    teller(tool),
    new Set(allowOrigins),
  );
  const startedAt = clock.wall().toISOString();
  const server = await startServer({
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    allowedHosts: allowHosts,
    maxBody,
    explains: true,
    routes: [
      ...endpoint.routes,
      ...adminRoutes({
        journal: new JournalReports(tool, { startedAt, program }),
        reset: key => tool.reset(key),
        fire: () => 0,
      }),
    ],
    onRefused: refusal => tool.warn(refusalText(refusal)),
  });
  return { server, endpoint };
}

interface Ends {
  readonly stdin: Readable;
  /** Nothing else may be written there. */
  readonly stdout: Writable;
}

/**
 * JSON-RPC in lines (MCP, "stdio"). Unlike the transport of the SDK, it reports invalid lines, and answers open requests before it
 * closes.
 */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  #isClosed = false;
  #end: () => void = () => {};
  /** Resolves when it is closed, by either side. */
  readonly over = new Promise<void>(resolve => {
    this.#end = resolve;
  });
  readonly #lines: LineSplitter;

  /**
   * @param maxBody bytes of a line
   * @param drain resolves once everything that came is answered
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
    stdin.off('data', this.#read).off('end', this.#finish).pause(); // the streams outlive us, and may fail later
    this.onclose?.();
    this.#end();
  }

  readonly #read = (chunk: Uint8Array): void => {
    if (!this.#lines.add(chunk)) this.#fail(new Error(`a line is longer than ${bytesText(this.maxBody)}`));
  };

  readonly #finish = async (): Promise<void> => {
    await new Promise(setImmediate); // the last request is on its way
    await this.drain();
    await new Promise(setImmediate); // the last answer is on its way
    await this.close();
  };

  /** The start of the next line is unknown. */
  readonly #fail = (error: unknown): void => {
    this.#report(error);
    void this.close();
  };

  #receive(line: Uint8Array): void {
    const json = readJson(line);
    if (json.ok) this.#deliver(json.value);
    else if (line.some(byte => byte > 0x20))
      this.onerror?.(new Error(`invalid JSON in a line: ${json.reason}`));
  }

  #deliver(value: unknown): void {
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(value);
    } catch {
      this.onerror?.(new Error('a line is not a JSON-RPC message'));
      return;
    }
    this.onmessage?.(message);
  }

  #report(error: unknown): void {
    this.onerror?.(error instanceof Error ? error : new Error(String(error)));
  }
}

const paramsSchema = z.object({
  name: z.string(),
  arguments: z.optional(z.record(z.string(), z.unknown())),
});

/** Calls without a session, as over stdin, have this thread. */
const ONE_THREAD = 'mcp';

/**
 * Answers `tools/call`.
 * @throws ProtocolError for an invalid call or an unknown tool.
 */
async function callTool(
  tool: Pick<LocalTool, 'call'>,
  { params }: JSONRPCRequest,
  { mcpReq, sessionId, http }: ServerContext,
): Promise<Record<string, unknown>> {
  const checked = validate(paramsSchema, params ?? {});
  if (!checked.ok)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `the call is malformed: ${checked.faults.join('; ')}`,
    );
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
  return resultOf(sent);
}

/** @throws ProtocolError for an error of the protocol. */
function resultOf(sent: unknown): Record<string, unknown> {
  const result = isRecord(sent) ? sent : {};
  const { error } = result;
  if (isRecord(error) && Object.keys(result).length === 1)
    throw new ProtocolError(Number(error['code']), String(error['message']));
  return result;
}

/** Never answers; rejects when the request is cancelled. */
function silence(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(new ProtocolError(ProtocolErrorCode.InternalError, 'the call was canceled'));
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}

function toolList({ tools }: ToolsetFields): McpToolOfServer[] {
  return tools.map(({ name, description, inputSchema, outputSchema, annotations }) => ({
    name,
    description,
    inputSchema: { ...inputSchema, type: 'object' }, // which arguments always are; MCP wants it said
    ...(isRecord(outputSchema) && { outputSchema: { ...outputSchema, type: 'object' as const } }),
    ...(annotations && { annotations: hintsOf(annotations) }),
  }));
}

function hintsOf({ readOnly, destructive, idempotent }: NonNullable<Tool['annotations']>) {
  return {
    ...(readOnly !== undefined && { readOnlyHint: readOnly }),
    ...(destructive !== undefined && { destructiveHint: destructive }),
    ...(idempotent !== undefined && { idempotentHint: idempotent }),
  };
}

interface McpServerOptions {
  readonly tool: Pick<LocalTool, 'call' | 'toolset'>;
  /** Of this program: `0.1.0`. */
  readonly version: string;
  /** Whether clients are notified when the tools change. */
  readonly tellsChanges: boolean;
  /** The client has cancelled a call that came with this request: it gets no answer from the SDK. */
  readonly onCancelled?: (request: Request) => void;
}

/**
 * One connection's server. `tools/call` is not given to the SDK as a handler of its own: it would look results through, and drop
 * or refuse what it does not know, and a result that is written whole goes out verbatim (seed 003).
 */
function mcpServer({ tool, version, tellsChanges, onCancelled }: McpServerOptions): Server {
  const { name, description: instructions } = tool.toolset;
  const tools = tellsChanges ? { listChanged: true } : {};
  const server = new Server(
    { name, version },
    { capabilities: { tools }, ...(instructions !== undefined && { instructions }) },
  );
  server.setRequestHandler('tools/list', () => ({ tools: toolList(tool.toolset) }));
  server.fallbackRequestHandler = (request, context) => {
    const { http, mcpReq } = context;
    const cancelled = () => http?.req && onCancelled?.(http.req);
    mcpReq.signal.addEventListener('abort', cancelled, { once: true });
    if (request.method === 'tools/call') return callTool(tool, request, context);
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
  };
  return server;
}

/** Of JSON-RPC: what MCP answers to the name of a tool that it does not have. */
const INVALID_PARAMS = -32_602;

type Fields = Readonly<Record<string, unknown>>;

/** @param url of the endpoint, for events */
export function mcpWire(url: string): Wire {
  return {
    dialect: 'mcp',
    url,
    callMethod: 'tools/call',
    cancelMethod: 'notifications/cancelled',
    dropsCancelled: true,
    write,
  };
}

/** As a CallToolResult, in which `isError` always is (seed 003); of an unknown tool as `{ error }` of JSON-RPC, as MCP asks. */
function write(reply: SpokenReply, isOffered: () => boolean): Written {
  if (reply.kind === 'payload') return written(textResult(reply.text));
  if (reply.kind === 'verbatim') return writeResult(reply.result);
  const { outcome } = reply;
  if (outcome.type === 'error' && !isOffered())
    return written({ error: { code: INVALID_PARAMS, message: outcome.message } });
  return writeOther(reply);
}

/** What is written for MCP goes out as it is, sound or not. */
function writeResult(result: Fields): Written {
  if (wireOfResult(result) === 'rap') return writeForeign(result);
  const reading = readAs('mcp', { isError: false, ...result });
  const warnings = reading.ok ? [] : [`an invalid MCP result was sent: ${reading.faults.join('; ')}`];
  return { body: { ...result, isError: result['isError'] ?? false }, warnings };
}

/** Writes a `tool_result` of RAP; any other object becomes text. */
function writeForeign(result: Fields): Written {
  if (readAsRap(result).ok) return writeOther({ kind: 'verbatim', result });
  const warning = 'a result has neither content (MCP) nor text (RAP); it was sent as text';
  return { body: textResult(JSON.stringify(result)), warnings: [warning] };
}

function writeOther(reply: SpokenReply): Written {
  const { body, warnings } = writeAs('mcp', answerOfLocal({ id: null }, reply));
  return { body, warnings: warnings.map(({ message }) => message) };
}

function textResult(text: string): object {
  return { content: [{ type: 'text', text }], isError: false };
}

function written(body: object): Written {
  return { body, warnings: [] };
}

export type McpToolOptions = Omit<LocalToolOptions, 'wire' | 'log'> &
  Pick<MockToolOptions, 'host' | 'port' | 'allowHosts' | 'maxBody' | 'program'> &
  PageOptions;

/** Fixtures and handlers, served to MCP clients (seed 003). */
export interface McpTool extends AsyncDisposable {
  /** What is served, and what came of it. */
  readonly tool: LocalTool;
  /** Over HTTP; null over stdio. */
  readonly address: { readonly port: number; readonly base: string; readonly url: string } | null;
  /** Resolves when the only client there can be is gone; never over HTTP. */
  readonly over: Promise<void>;
  /** Answers by other fixtures from the next call on, and tells clients where it can. @throws ProtocolCliError `invalid-toolset`. */
  replaceFixtures(fixtures: FixtureSet): Promise<void>;
  /** What is pending is answered at once; then everything ends. */
  close(): Promise<void>;
}

/** Serves one client, over stdin and stdout. @throws ProtocolCliError `invalid-toolset`. */
export async function serveMcpStdio(options: McpToolOptions, ends: Ends): Promise<McpTool> {
  const tool = await startLocalTool({ ...options, wire: mcpWire('stdio:') });
  const servers = new Set<Server>();
  const factory = () => {
    const server = mcpServer({ tool, version: versionOf(options), tellsChanges: true });
    servers.add(server);
    return server;
  };
  const transport = new LineTransport(ends, options.maxBody ?? DEFAULTS.maxBody, () => tool.close());
  const serving = serveStdio(factory, { transport, onerror: teller(tool) });
  const close = once(async () => {
    await tool.close();
    await serving.close();
  });
  return {
    tool,
    address: null,
    over: transport.over,
    async replaceFixtures(fixtures) {
      await tool.replaceFixtures(fixtures);
      for (const server of servers) await server.sendToolListChanged().catch(() => {}); // one that is closed
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Serves any number of clients, over Streamable HTTP. @throws ProtocolCliError `invalid-toolset`, `port-in-use`, `usage`. */
export async function serveMcpHttp(options: McpToolOptions): Promise<McpTool> {
  const tool = await startLocalTool({ ...options, wire: mcpWire(MCP_PATH) });
  const { server, endpoint } = await openHttp(tool, options, onCancelled =>
    mcpServer({ tool, version: versionOf(options), tellsChanges: false, onCancelled }),
  );
  const close = once(async () => {
    const unheard = server.close();
    await tool.close();
    await endpoint.close();
    await unheard;
  });
  return {
    tool,
    address: { port: server.port, base: server.url, url: server.url + MCP_PATH },
    over: new Promise<never>(() => {}),
    replaceFixtures: fixtures => tool.replaceFixtures(fixtures),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function versionOf({ program = 'protocol-cli/0' }: McpToolOptions): string {
  return program.slice(program.indexOf('/') + 1);
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}
