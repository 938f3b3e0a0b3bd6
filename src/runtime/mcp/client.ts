import { setTimeout as delay } from 'node:timers/promises';
import { Client, type PriorDiscovery, SERVER_INFO_META_KEY } from '@modelcontextprotocol/client';
import * as z from 'zod/mini';
import { Content } from '../../events/content.js';
import type { Exchange } from '../../events/exchange.js';
import type { History } from '../../events/history.js';
import type { Log } from '../../events/log.js';
import { type RecordedRequest, recordRequest } from '../../events/record-request.js';
import { type Elicitation, elicitationSchema } from '../../protocol/callbacks.js';
import type { Clock } from '../../system/drafts.js';
import { cut, isRecord } from '../../util/json-diagnosis.js';
import { visibleLine } from '../../util/visible.js';
import { settlement } from '../runtime.js';
import { failureOfMcp, type Link, type McpFailure } from './transports.js';

/** Gets every message of a link as it stands on the wire. */
export type Hearing = (message: unknown, way: 'sent' | 'received') => void;

/** Requests of a server that need a capability, by method. */
const CAPABILITIES: Readonly<Record<string, string>> = {
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

const MISSING_CAPABILITY = -32_021;
const URL_ELICITATION_REQUIRED = -32_042;
const MOST_NAMED = 5;

/** The capabilities that a message of the server needs, and that this client does not offer. */
export function missingCapabilities(message: unknown): readonly string[] {
  if (!isRecord(message)) return [];
  const { method, params, result, error } = message;
  if (typeof method === 'string') return capabilitiesFor(method, params);
  if (isRecord(result) && result['resultType'] === 'input_required') {
    const { inputRequests } = result;
    return Object.values(isRecord(inputRequests) ? inputRequests : {})
      .filter(isRecord)
      .flatMap(request => capabilitiesFor(String(request['method']), request['params']));
  }
  if (!isRecord(error)) return [];
  if (error['code'] === URL_ELICITATION_REQUIRED) return ['elicitation.url'];
  const { requiredCapabilities: required } = isRecord(error['data']) ? error['data'] : {};
  if (error['code'] !== MISSING_CAPABILITY || !isRecord(required)) return [];
  return Object.keys(required)
    .slice(0, MOST_NAMED)
    .map(name => visibleLine(cut(name, 60)));
}

function capabilitiesFor(method: string, params: unknown): string[] {
  if (method === 'elicitation/create')
    return isRecord(params) && params['mode'] === 'url' ? ['elicitation.url'] : [];
  const capability = Object.hasOwn(CAPABILITIES, method) ? CAPABILITIES[method] : undefined;
  return capability === undefined ? [] : [capability];
}

/** Tells what goes over a link, both ways; to be called before it is opened. */
export function overhear(link: Link, hear: Hearing): void {
  const send = link.send.bind(link);
  link.send = (message, options) => {
    hear(message, 'sent');
    return send(message, options);
  };
  const take = link.onmessage;
  link.onmessage = (message, extra) => {
    hear(message, 'received');
    take?.(message, extra);
  };
}

/** The first protocol version without `initialize`: each request carries its version. */
export const NEWEST: PriorDiscovery = {
  kind: 'modern',
  discover: { supportedVersions: ['2026-07-28'], capabilities: {} },
};

/** Ms for the answer to `server/discover`: an older server may not answer it. */
const PROBE_MS = 3_000;

const discoverSchema = z.object({
  _meta: z.object({ [SERVER_INFO_META_KEY]: z.object({ name: z.string() }) }),
});

/** The longest delay of a Node.js timer, in ms: the SDK has no value for "no limit". */
const LONGEST_MS = 2 ** 31 - 1;

/** Answers a request of the server for input; the result is an `ElicitResult`. */
type Elicit = (params: unknown, signal: AbortSignal) => Promise<Record<string, unknown>>;

interface RequestLimits {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Receives the parameters of each progress notification. */
  readonly onProgress?: (params: unknown) => void;
}

/** An open MCP connection. */
export interface McpConnection {
  /** The name the server gives itself. */
  readonly server: string;
  /** Rejects when the server refuses, is gone, or does not answer in time; see `explainMcp`. */
  request(method: string, params: Record<string, unknown>, limits?: RequestLimits): Promise<unknown>;
  /** Answers elicitation requests that the server sends; without one they are cancelled. */
  elicit: Elicit | null;
  close(): Promise<void>;
}

interface OpenOptions {
  /** Of this program. */
  readonly version: string;
  /** Ms left for the handshake. */
  readonly left: () => number;
  /** Offer form elicitation to the server. */
  readonly elicits?: boolean;
}

/** @param prior the protocol version to speak; without it, versions that begin with `initialize` */
export async function openMcp(
  link: Link,
  { version, left, elicits = false }: OpenOptions,
  prior?: PriorDiscovery,
): Promise<McpConnection> {
  const client = new Client(
    { name: 'protocol-cli', version },
    elicits ? { capabilities: { elicitation: { form: {} } } } : {},
  );
  // The SDK's own progress handlers miss a notification that comes just before the result.
  const listening = new Map<unknown, (params: unknown) => void>();
  let requests = 0;
  overhear(link, (message, way) => {
    if (way !== 'received' || !isRecord(message) || message['method'] !== 'notifications/progress') return;
    const { params } = message;
    if (isRecord(params)) listening.get(params['progressToken'])?.(params);
  });
  const connection: McpConnection = {
    server: 'MCP server',
    elicit: null,
    // The result is returned as it came: the SDK's own schemas add and drop members.
    request: (method, params, { timeoutMs: timeout = LONGEST_MS, signal, onProgress } = {}) => {
      const limits = { timeout, ...(signal && { signal }), allowInputRequired: true };
      const progressToken = `progress-${++requests}`;
      if (onProgress) listening.set(progressToken, onProgress);
      const more = onProgress ? { _meta: { progressToken } } : {};
      const answer = client.request({ method, params: { ...params, ...more } }, z.unknown(), limits);
      return Promise.race([answer, link.lost]).finally(() => listening.delete(progressToken));
    },
    close: () => client.close(),
  };
  if (elicits)
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq: { signal } }) => {
      const result = await connection.elicit?.(params, signal);
      return { action: 'cancel', ...result };
    });
  await Promise.race([client.connect(link, { timeout: left(), ...(prior && { prior }) }), link.lost]);
  const timeoutMs = Math.min(left(), PROBE_MS);
  const discovered = prior && (await connection.request('server/discover', {}, { timeoutMs }));
  const named = discoverSchema.safeParse(discovered);
  const server = named.success
    ? named.data._meta[SERVER_INFO_META_KEY].name
    : client.getServerVersion()?.name;
  return Object.assign(connection, server !== undefined && { server });
}

interface McpCall {
  /** Names the call in every event. */
  readonly id: string;
  readonly operation: string;
  readonly arguments: Record<string, unknown>;
  /** A URL, or what was started. */
  readonly endpoint: string;
  /** What the user had sent with it, told redacted. */
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds; 0 waits for ever. */
  readonly timeoutMs: number;
}

/** What a form is answered with. */
export interface FormAnswer {
  readonly by: 'person' | 'flag';
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
  /** Index of the choice that it is; see `questionOf`. */
  readonly selected: number;
}

interface Desk {
  readonly log: Log;
  /** Must be subscribed to `log`. */
  readonly history: History;
  readonly clock: Clock;
  /** Whether the time limit stands still while a question is open. */
  readonly waitsForPeople?: boolean;
  /** Answers the nth form of the call, from 0; null when nobody answers. Then the call is cancelled. */
  readonly answer?: (form: Elicitation, signal: AbortSignal, nth: number) => Promise<FormAnswer | null>;
}

/** How it ended, and what the request was rejected with, where it was. */
export interface McpCalled {
  readonly exchange: Exchange;
  readonly error: unknown;
}

/** MCP has no thread; all calls of one connection are as one. */
const THREAD = 'mcp';

/** Sends `tools/call`, tells the log, and resolves once the call is settled; one that is given up is cancelled on the wire. */
export async function callMcp(connection: McpConnection, call: McpCall, desk: Desk): Promise<McpCalled> {
  const { log, history, clock, waitsForPeople = true } = desk;
  const { id, operation, timeoutMs } = call;
  const abort = new AbortController();
  const watch = { key: id, timeoutMs, waitsForPeople };
  const over = settlement(log, history, clock, watch).then(() => abort.abort(GIVEN_UP));
  const recorded = recordRequest(log, requestOf(call));
  const params = { name: operation, arguments: call.arguments };
  const notice = (method: string, content: unknown) => record(log, call, method, content);
  const elicit = answering(call, desk, notice);
  const onProgress = (progress: unknown) => void notice('notifications/progress', progress);
  connection.elicit = elicit;
  const error: unknown = await callUntilDone(connection, params, { signal: abort.signal, onProgress }, elicit)
    .finally(() => {
      connection.elicit = null;
    })
    .then(
      result => ({ failure: null, result }),
      (rejection: unknown) => ({ failure: failureOfMcp(rejection), rejection }),
    )
    .then(end => {
      if (abort.signal.aborted) return undefined; // what ended it is told already
      if (end.failure) recordFailure(recorded, end.failure);
      else recorded.answered(200, { body: Content.ofJson(end.result ?? null) });
      if (history.exchanges.get(id)?.settled) return undefined;
      log.emit({ kind: 'decided', what: 'give-up', by: 'policy', calls: [id] });
      return 'rejection' in end ? end.rejection : undefined;
    });
  await over;
  return { exchange: exchangeOf(history, id), error };
}

/** The server can ask for input this often in one call. */
const MOST_ROUNDS = 20;
/** Ms before a call is repeated that the server put off. */
const PAUSE_MS = 250;

const inputRequiredSchema = z.object({
  resultType: z.literal('input_required'),
  inputRequests: z._default(
    z.record(z.string(), z.object({ method: z.string(), params: z.optional(z.unknown()) })),
    {},
  ),
  requestState: z.optional(z.string()),
});

/**
 * Calls a tool. From protocol version 2026-07-28 on, a server asks for input with a result that says so, and is called again with the
 * answers. A result that asks for what this client cannot give is returned as it is.
 */
async function callUntilDone(
  connection: McpConnection,
  params: Record<string, unknown>,
  limits: { readonly signal: AbortSignal; readonly onProgress: (progress: unknown) => void },
  elicit: Elicit,
): Promise<unknown> {
  let more = {};
  for (let round = 0; ; round++) {
    const result = await connection.request('tools/call', { ...params, ...more }, limits);
    const needed = inputRequiredSchema.safeParse(result);
    if (!needed.success || round === MOST_ROUNDS) return result;
    const { inputRequests, requestState } = needed.data;
    const requests = Object.entries(inputRequests);
    if (requests.some(([, { method }]) => method !== 'elicitation/create')) return result;
    const inputResponses: Record<string, unknown> = {};
    for (const [key, request] of requests) inputResponses[key] = await elicit(request.params, limits.signal);
    more = { inputResponses, ...(requestState !== undefined && { requestState }) };
    if (requests.length === 0) await delay(PAUSE_MS, undefined, { signal: limits.signal });
  }
}

/** Answers the forms of a call, one after the other, and records each with its answer. */
function answering(
  call: McpCall,
  desk: Desk,
  notice: (method: string, content: unknown) => RecordedRequest,
): Elicit {
  const { log, history } = desk;
  let nth = 0;
  let before: Promise<unknown> = Promise.resolve();
  const elicit: Elicit = async (params, signal) => {
    const recorded = notice('elicitation/create', params);
    const { leg } = recorded;
    const form = elicitationSchema.safeParse(params);
    const isOpen = history.exchanges.get(call.id)?.questions.some(each => each.leg === leg);
    const answer = form.success && isOpen && desk.answer && (await desk.answer(form.data, signal, nth++));
    const calls = [call.id];
    if (isOpen && !answer && !history.exchanges.get(call.id)?.settled)
      log.emit({ kind: 'decided', what: 'cancel', by: 'policy', calls });
    const { by, action, content, selected } = answer || CANCELLED;
    if (answer) log.emit({ kind: 'decided', what: 'choice', by, value: selected, question: leg, calls });
    const result = { action, ...(content && { content }) };
    recorded.answered(200, { body: Content.ofJson(result) });
    return result;
  };
  return (params, signal) => {
    const answered = before.then(() => elicit(params, signal));
    before = answered.catch(() => {});
    return answered;
  };
}

const CANCELLED: FormAnswer = { by: 'flag', action: 'cancel', selected: 0 };

/** Records a message of the server that belongs to a call. */
function record(log: Log, { id, endpoint }: McpCall, method: string, content: unknown): RecordedRequest {
  const about = { from: 'tool', to: 'client', purpose: 'callback', dialect: 'mcp' } as const;
  const message = { method, url: endpoint, headers: {}, body: Content.ofJson(content) };
  return recordRequest(log, { ...about, ...message, calls: [id], thread: THREAD });
}

/** What the server is told. */
const GIVEN_UP = 'the call was given up';

/** Records a JSON-RPC error in the place of a result. */
function recordFailure(recorded: RecordedRequest, failure: McpFailure): void {
  switch (failure.kind) {
    case 'error': {
      const { kind: _, ...error } = failure;
      recorded.answered(200, { body: Content.ofJson({ error }) });
      break;
    }
    case 'status':
      recorded.answered(failure.status, { body: new Content(Buffer.from(failure.text)) });
      break;
    case 'broken':
      recorded.broken(failure.phase, failure.code);
  }
}

function requestOf({
  id,
  operation,
  arguments: args,
  endpoint,
  headers,
}: McpCall): Parameters<typeof recordRequest>[1] {
  return {
    from: 'client',
    to: 'tool',
    purpose: 'invocation',
    dialect: 'mcp',
    method: 'tools/call',
    url: endpoint,
    headers: { ...headers },
    body: Content.ofJson({ operation, arguments: args, id }),
    calls: [id],
    thread: THREAD,
  };
}

/** A call that is not made, since it is not allowed: the exchange it ends in. */
export function denyMcp(
  { id, operation: tool, arguments: args }: Pick<McpCall, 'id' | 'operation' | 'arguments'>,
  { by, reason }: { readonly by: 'person' | 'policy'; readonly reason: string },
  { log, history }: Pick<Desk, 'log' | 'history'>,
): Exchange {
  const body = Content.ofJson({ operation: tool, arguments: args, id });
  log.emit({ kind: 'denied', dialect: 'mcp', by, tool, reason, calls: [id], thread: THREAD, body });
  return exchangeOf(history, id);
}

function exchangeOf({ exchanges }: History, id: string): Exchange {
  const exchange = exchanges.get(id);
  if (!exchange) throw new Error('the history must be subscribed to the log');
  return exchange;
}
