import {
  type JSONRPCMessage,
  ProtocolError,
  parseJSONRPCMessage,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Transport,
  type TransportSendOptions,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import * as z from 'zod/mini';
import { explainFailure, TransportError } from '../../http/client.js';
import { guardedFetch } from '../../http/pooled-client.js';
import type { Tool } from '../../protocol/toolset.js';
import { validate } from '../../protocol/validate.js';
import { type SpokenCommand, startSpokenCommand } from '../../system/child.js';
import { cameWithin } from '../../system/signals.js';
import { ProtocolCliError } from '../../util/errors.js';
import { excerpt } from '../../util/excerpt.js';
import { formatDuration } from '../../util/format-duration.js';
import { readJson } from '../../util/json.js';
import { bytesText, isRecord } from '../../util/json-diagnosis.js';
import { foreignWords } from '../../util/redact-json.js';
import { LineSplitter } from '../../util/strings.js';

/** A transport of the SDK's that says when an answer can come no more; the SDK itself would go on waiting. */
export interface Link extends Transport {
  /** Rejects with a TransportError then. */
  readonly lost: Promise<never>;
  /** What the server said last, where it was started here: lines of its stderr. */
  readonly lastWords: readonly string[];
  /** What came and was no message: how often, and the beginning of the first. */
  readonly garbage: { readonly count: number; readonly first: string };
}

/** Whom the words are about: a URL, or a command that was started. */
export interface McpPeer {
  readonly kind: 'http' | 'stdio';
  /** The URL, or the command as it was given. */
  readonly name: string;
}

/** The endpoint of a server for a transcript. Of a command only the program: its arguments can be secrets. */
export function endpointOf({ kind, name }: McpPeer): string {
  if (kind === 'http') return name;
  const word = name.split(/\s+/).find(each => !/^\w+=/.test(each)) ?? '';
  const program = word.replace(/^.*[/\\]/, '').replaceAll(/["']/g, '');
  return `stdio:${/^[\w@.-]{1,60}$/.test(program) ? program : ''}`;
}

/** What came of a request, in a transcript's terms. */
export type McpFailure =
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  | { readonly kind: 'status'; readonly status: number; readonly text: string }
  | { readonly kind: 'broken'; readonly phase: string; readonly code: string };

/** Sorts what a request was rejected with. */
export function failureOfMcp(error: unknown): McpFailure {
  if (error instanceof ProtocolError) {
    const { code, message, data } = error;
    return { kind: 'error', code, message, ...(data !== undefined && { data }) };
  }
  if (error instanceof SdkHttpError)
    return { kind: 'status', status: error.status, text: textOf(error.data) };
  if (error instanceof UnauthorizedError) return { kind: 'status', status: 401, text: '' };
  if (error instanceof TransportError) return { kind: 'broken', phase: error.phase, code: error.code };
  if (error instanceof SdkError) return { kind: 'broken', phase: 'answer', code: error.code };
  return { kind: 'broken', phase: 'answer', code: 'UNREADABLE' };
}

function textOf({ text }: SdkHttpError['data']): string {
  return typeof text === 'string' ? text : '';
}

/**
 * Why a server cannot be used, in words: what was asked, what came, what to do.
 * @param asked `initialize`, `tools/list`, `tools/call`
 * @param limitMs how long it had, where it had a limit
 */
export function explainMcp(
  error: unknown,
  asked: string,
  peer: McpPeer,
  link: Link,
  limitMs?: number,
): ProtocolCliError {
  const silence = `no answer to ${asked} came ${limitMs === undefined ? 'in time' : `within ${formatDuration(limitMs)}`}`;
  const reason = isSilence(error) ? silence : reasonOf(error, asked);
  const failure = failureOfMcp(error);
  switch (failure.kind) {
    case 'error':
      return new ProtocolCliError(
        'no-discovery',
        `${peer.name}: the server refused ${asked} with the error ${failure.code}: ${excerpt(failure.message)}`,
        { hint: 'Does it offer tools, and does it speak a current version of MCP?', cause: error },
      );
    case 'status':
      return new ProtocolCliError(
        'no-discovery',
        `${peer.name}: ${asked} was answered with ${failure.status}`,
        {
          faults: failure.text.trim() === '' ? [] : [excerpt(failure.text.trim())],
          hint: hintOnStatus(failure.status),
          cause: error,
        },
      );
    case 'broken':
      return peer.kind === 'stdio'
        ? explainCommand(error, reason, peer.name, link)
        : explainUrl(error, reason, peer.name);
  }
}

function explainUrl(error: unknown, reason: string, url: string): ProtocolCliError {
  if (error instanceof TransportError) return explainFailure(error, url, 'tool');
  return new ProtocolCliError('unreachable', `${url}: ${reason}`, {
    hint: 'Is this the endpoint of an MCP server (Streamable HTTP)? It often ends in /mcp.',
    cause: error,
  });
}

function explainCommand(error: unknown, reason: string, command: string, link: Link): ProtocolCliError {
  return new ProtocolCliError('command-failed', `the command "${command}": ${reason}`, {
    faults: [...garbageOf(link), ...link.lastWords],
    hint: isSilence(error)
      ? `${SPEAKS} What has to be fetched first, as by npx, is best fetched before.`
      : SPEAKS,
    cause: error,
  });
}

const SPEAKS =
  'It must speak MCP over stdin and stdout, one JSON-RPC message a line, and nothing else there.';

/** What stood on the server's stdout and was no message; empty where nothing did. */
export function garbageOf({ garbage: { count, first } }: Link): string[] {
  if (count === 0) return [];
  const lines = count === 1 ? 'a line that is' : `${count} lines that are`;
  return [`it wrote ${lines} no JSON-RPC message to its stdout: ${excerpt(first)}`];
}

function isSilence(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
}

function reasonOf(error: unknown, asked: string): string {
  if (error instanceof TransportError) return error.message;
  const message = error instanceof Error ? error.message : String(error);
  return `the answer to ${asked} is none of MCP: ${excerpt(message)}`;
}

function hintOnStatus(status: number): string {
  if (status === 401 || status === 403)
    return 'Give a token with --bearer <token | env:NAME>, or a header with -H.';
  if (status === 404 || status === 405)
    return 'Is this the endpoint of an MCP server (Streamable HTTP)? It often ends in /mcp.';
  if (status >= 300 && status < 400)
    return 'Redirects to another origin are not followed: give the final address.';
  return "The server's own log says why.";
}

interface StdioOptions {
  readonly command: string;
  readonly cwd?: string;
  /** Added to our environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Bytes of a message. */
  readonly maxBytes: number;
  /** Gets what the server writes to stderr, as it comes. */
  readonly onStderr?: (text: string) => void;
}

/** A server that is started for this, and talks over stdin and stdout, one message a line (MCP, "stdio"). */
export class StdioLink implements Link, Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Lines on stdout that are no message: how many, and the beginning of the first. */
  readonly garbage = { count: 0, first: '' };
  #server: SpokenCommand | undefined;
  #lose: (error: TransportError) => void = () => {};
  /** Rejects once nothing can come any more. */
  readonly lost: Promise<never>;
  #isLost = false;

  constructor(private readonly options: StdioOptions) {
    this.lost = new Promise<never>((_, reject) => {
      this.#lose = reject;
    });
    this.lost.catch(() => {}); // nobody may be waiting
  }

  get lastWords(): string[] {
    return this.#server?.stderr() ?? [];
  }

  async start(): Promise<void> {
    const { maxBytes, ...started } = this.options;
    this.#server = startSpokenCommand(started);
    const { stdout, ended } = this.#server;
    const lines = new LineSplitter(maxBytes, line => this.#read(line));
    stdout.on('data', (chunk: Buffer) => {
      if (!lines.add(chunk)) this.#end('TOO_LARGE', `a message is larger than ${bytesText(maxBytes)}`);
    });
    void ended.then(how => this.#end('ENDED', `the server ${how}`));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#server?.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    await this.#server?.stop();
    this.#end('CLOSED', 'the connection was closed');
  }

  #read(line: Uint8Array): void {
    const message = messageIn(line);
    if (message) this.onmessage?.(message);
    else if (line.some(byte => byte > 0x20)) this.#note(line);
  }

  #note(line: Uint8Array): void {
    if (this.garbage.count === 0) this.garbage.first = Buffer.from(line.subarray(0, 200)).toString('utf8');
    this.garbage.count += 1;
  }

  #end(code: string, message: string): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#lose(new TransportError('answer', code, message));
    this.onclose?.();
  }
}

function messageIn(line: Uint8Array): JSONRPCMessage | null {
  const json = readJson(line);
  if (!json.ok) return null;
  try {
    return parseJSONRPCMessage(json.value);
  } catch {
    return null;
  }
}

/** What a server may have us ask and keep: a list of tools may have no end. */
const MOST = { pages: 200, tools: 20_000, notes: 5 };

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

interface McpTools {
  readonly tools: readonly Tool[];
  /** What is wrong with the list: one bad tool does not spoil the others. */
  readonly notes: readonly string[];
  /** Names of the tools that can only be called as a task. */
  readonly taskOnly: ReadonlySet<string>;
}

interface Requester {
  request(
    method: string,
    params: Record<string, unknown>,
    limits: { readonly timeoutMs: number },
  ): Promise<unknown>;
}

/** Asks for `tools/list`, page after page. @param left ms that there are for all of them @throws Error where a page is none, and whatever the connection rejects with. */
export async function listTools(connection: Requester, left: () => number): Promise<McpTools> {
  const tools = new Map<string, Tool>();
  const taskOnly = new Set<string>();
  const notes: string[] = [];
  const seen = new Set<string>();
  let cursor: string | null | undefined;
  for (let pages = 1; ; pages++) {
    const page = await connection.request('tools/list', cursor ? { cursor } : {}, { timeoutMs: left() });
    const checked = validate(pageSchema, page);
    if (!checked.ok) throw new Error(checked.faults.join('; '));
    for (const each of checked.value.tools) take(each, { tools, taskOnly, notes });
    cursor = checked.value.nextCursor;
    if (!cursor) return { tools: [...tools.values()], notes: few(notes), taskOnly };
    const isEndless = seen.has(cursor) || pages >= MOST.pages || tools.size >= MOST.tools;
    if (isEndless)
      return { tools: [...tools.values()], notes: [endless(pages, tools.size), ...few(notes)], taskOnly };
    seen.add(cursor);
  }
}

function endless(pages: number, tools: number): string {
  return `the list of tools does not end: after ${pages} pages with ${tools} tools it was asked for no more`;
}

interface Collected {
  readonly tools: Map<string, Tool>;
  readonly taskOnly: Set<string>;
  readonly notes: string[];
}

function take(foreign: unknown, { tools, taskOnly, notes }: Collected): void {
  const checked = validate(toolSchema, foreign);
  if (!checked.ok) {
    const { name = '' } = isRecord(foreign) ? foreign : {};
    notes.push(`the tool ${excerpt(foreignWords(name))} cannot be used: ${checked.faults.join('; ')}`);
  } else if (tools.has(checked.value.name))
    notes.push(`the tool ${excerpt(checked.value.name)} is listed twice; the first counts`);
  else {
    const { name, execution } = checked.value;
    tools.set(name, toolOf(checked.value));
    if (execution?.taskSupport === 'required') taskOnly.add(name);
  }
}

/** A hint that it destroys something means nothing for a tool that only reads. */
function toolOf({
  name,
  description = '',
  inputSchema,
  outputSchema,
  annotations,
}: z.infer<typeof toolSchema>): Tool {
  const { readOnlyHint: readOnly, destructiveHint, idempotentHint: idempotent } = annotations ?? {};
  const destructive = readOnly === true ? undefined : destructiveHint;
  return {
    name,
    description,
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    annotations: {
      ...(readOnly !== undefined && { readOnly }),
      ...(destructive !== undefined && { destructive }),
      ...(idempotent !== undefined && { idempotent }),
    },
  };
}

function few(notes: readonly string[]): string[] {
  const rest = notes.length - MOST.notes;
  return rest > 0 ? [...notes.slice(0, MOST.notes), `and ${rest} more about the list of tools`] : [...notes];
}

const LEAVE_MS = 500;

interface HttpOptions {
  readonly url: string;
  /** Sent to the origin of the URL, and to no other. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of an answer. */
  readonly maxBytes: number;
}

/** A server that is reached at a URL (MCP, "Streamable HTTP"). */
export class HttpLink extends StreamableHTTPClientTransport implements Link {
  readonly lost: Promise<never>;
  readonly lastWords: readonly string[] = [];
  readonly garbage = { count: 0, first: '' };
  #lose: (error: TransportError) => void = () => {};
  readonly #stopFetching: () => Promise<void>;
  readonly #unanswered = new Set<string | number>();
  /** Notifications, and answers of ours. */
  readonly #passing = new Set<Promise<void>>();

  constructor({ url, headers, maxBytes }: HttpOptions) {
    const { fetch, close } = guardedFetch({ maxBytes });
    super(new URL(url), { requestInit: { headers: { ...headers } }, fetch });
    this.#stopFetching = close;
    this.lost = new Promise<never>((_, reject) => {
      this.#lose = reject;
    });
    this.lost.catch(() => {}); // nobody may be waiting
    this.onmessage = message => this.#answered(message);
  }

  /** A stream that ends without the answer it was opened for is told to nobody by the SDK. */
  override send(
    message: JSONRPCMessage | JSONRPCMessage[],
    options?: TransportSendOptions & { resumptionToken?: string },
  ): Promise<void> {
    if (Array.isArray(message) || !('method' in message) || !('id' in message))
      return this.#pass(super.send(message, options));
    const { id } = message;
    this.#unanswered.add(id);
    return super.send(message, { ...options, onRequestStreamEnd: () => this.#streamEnded(id) });
  }

  /** What is on its way goes out, and the session is ended as MCP asks; nobody waits long for either. */
  override async close(): Promise<void> {
    await cameWithin(Promise.allSettled(this.#passing), LEAVE_MS);
    await cameWithin(
      this.terminateSession().catch(() => {}),
      LEAVE_MS,
    );
    await super.close();
    await this.#stopFetching();
  }

  #pass(sending: Promise<void>): Promise<void> {
    this.#passing.add(sending);
    return sending.finally(() => this.#passing.delete(sending));
  }

  #answered(message: JSONRPCMessage): void {
    if (!('method' in message) && message.id !== undefined) this.#unanswered.delete(message.id);
  }

  #streamEnded(id: string | number): void {
    if (this.#unanswered.has(id))
      this.#lose(new TransportError('answer', 'ECONNRESET', 'the answer ended before it was complete'));
  }
}
