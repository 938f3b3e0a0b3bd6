import { Content } from '../../events/content.js';
import { type Log, RecordedRequest, type RequestFact } from '../../events/log.js';
import { elicitationSchema, selectedIn } from '../../protocol/mcp.js';
import { RecentMap } from '../../util/collections.js';
import { LIMITS } from '../../util/limits.js';
import { compactJson, isRecord, listOf, recordOf, valueAt } from '../../util/values.js';
import { CallEnds } from '../recorded-calls.js';

type Message = Readonly<Record<string, unknown>>;

export type Side = 'client' | 'tool';

export type Headers = Readonly<Record<string, string>>;

/** A call, from its first request to its answer. */
interface OpenCall {
  readonly key: string;
  readonly recorded: RecordedRequest;
  /** What continues it after the server asked for input: see {@link continuationOf}. */
  continuation: string;
  /** Which of its progress notifications are its own. */
  progressToken: unknown;
  /** The forms of the latest round, by their names (2026-07-28). */
  readonly forms: Map<string, Form>;
}

/** A form that the server asks. */
interface Form {
  readonly call: OpenCall;
  readonly recorded: RecordedRequest;
  readonly params: unknown;
}

/** A request of the client that has no answer yet. */
interface Sent {
  readonly method: string;
  readonly recorded: RecordedRequest;
  readonly call: OpenCall | null;
}

/** The requests with which a client gets to know the server. */
const DISCOVERY: ReadonlySet<unknown> = new Set(['initialize', 'server/discover', 'tools/list']);

/** The member of `_meta` with the name of the server (2026-07-28). */
const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';

/** MCP has no threads. */
const THREAD = 'mcp';

/**
 * Records what passes between MCP clients and a server, as a client that saves its calls does: the requests of discovery, and the calls
 * with their progress, log messages and forms. Everything else passes without an event. The messages are foreign: none of them throws.
 */
export class McpObserver {
  readonly ends = new CallEnds();
  readonly #waiting = new RecentMap<string, OpenCall>(LIMITS.callsRemembered.value);
  readonly #operations = new Set<string>();
  #loaded = '';
  #name = 'MCP server';
  #calls = 0;

  /** @param endpoint the URL in the events */
  constructor(
    readonly log: Log,
    private readonly endpoint: string,
  ) {}

  /** A client with a server of its own, or in a session: the scope of the ids of requests. */
  connection(): McpConnection {
    return new McpConnection(this);
  }

  warn(message: string): void {
    this.log.emit({ kind: 'warned', message });
  }

  record(
    method: string,
    about: Pick<RequestFact, 'purpose' | 'calls' | 'thread' | 'body'> & { readonly headers?: Headers },
  ): RecordedRequest {
    const { headers = {}, ...rest } = about;
    const sides =
      about.purpose === 'callback'
        ? ({ from: 'tool', to: 'client' } as const)
        : ({ from: 'client', to: 'tool' } as const);
    const url = this.endpoint;
    return new RecordedRequest(this.log, {
      ...sides,
      ...rest,
      dialect: 'mcp',
      method,
      url,
      headers: { ...headers },
    });
  }

  /** The call that a request begins, or that it continues with input that the server asked for. */
  callOf({ id, params }: Message, headers: Headers): OpenCall {
    const given = recordOf(params);
    const continuation = continuationOf(given, given['requestState']);
    const waiting = 'inputResponses' in given ? this.#waiting.get(continuation) : undefined;
    const call = waiting ?? this.#begin(id, given, headers);
    if (waiting) this.#waiting.delete(continuation);
    call.continuation = continuationOf(given, undefined);
    call.progressToken = valueAt(given, '_meta', 'progressToken');
    return call;
  }

  /** The call goes on with a later request, perhaps on another connection. */
  wait(call: OpenCall, requestState: unknown): void {
    if (typeof requestState === 'string') call.continuation = requestState;
    this.#waiting.set(call.continuation, call);
  }

  /** Learns the name of the server, and the tools that it lists. */
  learn(method: string, result: Message): void {
    const info = method === 'initialize' ? result['serverInfo'] : valueAt(result, '_meta', SERVER_INFO);
    const name = valueAt(info, 'name');
    if (typeof name === 'string') this.#name = name;
    if (method !== 'tools/list') return;
    for (const tool of listOf(result['tools'])) {
      const operation = valueAt(tool, 'name');
      const isKept = typeof operation === 'string' && this.#operations.size < LIMITS.mcpTools.value;
      if (isKept) this.#operations.add(operation);
    }
    if (typeof result['nextCursor'] === 'string') return;
    const operations = [...this.#operations];
    this.#operations.clear();
    const loaded = JSON.stringify([this.#name, operations]);
    if (loaded === this.#loaded) return;
    this.#loaded = loaded;
    const { endpoint } = this;
    this.log.emit({ kind: 'loaded', base: null, endpoint, toolset: this.#name, operations });
  }

  #begin(id: unknown, { name, arguments: args = {} }: Message, headers: Headers): OpenCall {
    const key = `call-${++this.#calls}`;
    const body = Content.ofJson({ operation: name, arguments: args, id: String(id) });
    const about = { calls: [key], thread: THREAD, body, headers };
    const recorded = this.record('tools/call', { purpose: 'invocation', ...about });
    this.ends.add(key, 'silent');
    return { key, recorded, continuation: '', progressToken: undefined, forms: new Map() };
  }
}

/** The name of a call that waits for input: the state that the server gave, or else the call itself. */
function continuationOf({ name, arguments: args }: Message, requestState: unknown): string {
  return typeof requestState === 'string' ? requestState : (compactJson([name, args]) ?? '');
}

/** The messages of one connection. */
export class McpConnection {
  /** Requests of the client, by their ids. */
  readonly #sent = new RecentMap<string, Sent>(LIMITS.callsRemembered.value);
  /** Calls by the tokens of their progress. */
  readonly #progress = new RecentMap<string, OpenCall>(LIMITS.callsRemembered.value);
  /** The call that began last. */
  #latest: Sent | null = null;
  /** Forms that the server asks with requests of its own, by their ids. */
  readonly #forms = new RecentMap<string, Form>(LIMITS.callsRemembered.value);

  constructor(private readonly observer: McpObserver) {}

  /**
   * @param message a JSON value; a list is a batch
   * @param headers of a request over HTTP
   * @returns whether it is a message of JSON-RPC
   */
  sees(message: unknown, from: Side, headers: Headers = {}): boolean {
    if (Array.isArray(message)) {
      const seen = message.map(each => isRecord(each) && this.sees(each, from, headers));
      return seen.length > 0 && !seen.includes(false);
    }
    if (!isRecord(message) || message['jsonrpc'] !== '2.0') return false;
    const { method, id } = message;
    if (typeof method !== 'string') return this.#answer(message, from);
    if (from === 'client') this.#ofClient(method, message, headers);
    else if (id !== undefined) this.#asks(method, message);
    else this.#notifies(method, message['params']);
    return true;
  }

  /** Records that what is open gets no answer. @param code why, as in the code of an error */
  end(code: string): void {
    for (const { recorded } of this.#sent.values()) recorded.recordBroken('answer', code);
    this.#sent.clear();
  }

  /** Ends what a client posted and what has no answer yet. @param posted as in {@link sees} */
  settle(posted: unknown, end: (recorded: RecordedRequest) => void): void {
    for (const message of Array.isArray(posted) ? posted : [posted]) {
      const isRequest = typeof valueAt(message, 'method') === 'string';
      const sent = isRequest ? this.#take(keyOf(valueAt(message, 'id'))) : undefined;
      if (sent) end(sent.recorded);
    }
  }

  #ofClient(method: string, message: Message, headers: Headers): void {
    const { observer } = this;
    const id = keyOf(message['id']);
    if (method === 'notifications/cancelled') this.#cancel(keyOf(valueAt(message, 'params', 'requestId')));
    else if (message['id'] === undefined) return;
    else if (method === 'tools/call') {
      const call = observer.callOf(message, headers);
      this.#answerForms(call, recordOf(valueAt(message, 'params', 'inputResponses')));
      this.#latest = { method, recorded: call.recorded, call };
      this.#sent.set(id, this.#latest);
      this.#progress.set(keyOf(call.progressToken), call);
    } else if (DISCOVERY.has(method)) {
      const recorded = observer.record(method, { purpose: 'discovery', headers });
      this.#sent.set(id, { method, recorded, call: null });
    }
  }

  /** What was sent with an id, which is now over. */
  #take(id: string): Sent | undefined {
    const sent = this.#sent.get(id);
    this.#sent.delete(id);
    if (sent === this.#latest) this.#latest = null;
    if (sent?.call) this.#progress.delete(keyOf(sent.call.progressToken));
    return sent;
  }

  #cancel(id: string): void {
    const { observer } = this;
    const call = this.#sent.get(id)?.call;
    if (!call) return;
    this.#take(id);
    const about = { calls: [call.key], thread: THREAD };
    observer.record('notifications/cancelled', { purpose: 'cancel', ...about }).recordResponse(202);
    call.recorded.recordBroken('answer', 'CANCELLED');
    observer.ends.add(call.key, 'canceled');
  }

  #answer(message: Message, from: Side): boolean {
    if (!('result' in message || 'error' in message)) return false;
    const id = keyOf(message['id']);
    if (from === 'client') {
      const form = this.#forms.get(id);
      this.#forms.delete(id);
      if (form) this.#answerForm(form, message['result']);
      return true;
    }
    const sent = this.#take(id);
    if (sent?.call) this.#endCall(sent.call, message);
    else if (sent) {
      const { method, recorded } = sent;
      const { result } = message;
      const isListing = method === 'tools/list' && isRecord(result);
      recorded.recordResponse(200, isListing ? { body: Content.ofJson(result) } : {});
      if (isRecord(result)) this.observer.learn(method, result);
    }
    return true;
  }

  #endCall(call: OpenCall, message: Message): void {
    const { result = null, error } = message;
    if (isRecord(result) && result['resultType'] === 'input_required')
      return void this.#asksInAnswer(call, result);
    const body = 'error' in message ? { error } : result;
    call.recorded.recordResponse(200, { body: Content.ofJson(body) });
    this.observer.ends.add(call.key, 'result');
  }

  /** The server asks with its answer, and the client calls again (2026-07-28). */
  #asksInAnswer(call: OpenCall, { inputRequests, requestState }: Message): void {
    for (const [name, request] of Object.entries(recordOf(inputRequests))) {
      if (valueAt(request, 'method') !== ELICIT) continue;
      call.forms.set(name, this.#form(call, valueAt(request, 'params')));
    }
    this.observer.wait(call, requestState);
  }

  #answerForms(call: OpenCall, responses: Message): void {
    for (const [name, form] of call.forms) this.#answerForm(form, responses[name]);
    call.forms.clear();
  }

  #asks(method: string, { id, params }: Message): void {
    const call = this.#latestCall();
    if (method === ELICIT && call) this.#forms.set(keyOf(id), this.#form(call, params));
  }

  #notifies(method: string, params: unknown): void {
    const isProgress = method === 'notifications/progress';
    if (!isProgress && method !== 'notifications/message') return;
    const token = valueAt(params, 'progressToken');
    const call = isProgress ? this.#progress.get(keyOf(token)) : this.#latestCall();
    if (call && isRecord(params)) this.#record(call, method, params).recordResponse(202);
  }

  #form(call: OpenCall, params: unknown): Form {
    return { call, recorded: this.#record(call, ELICIT, params), params };
  }

  #answerForm({ call, recorded, params }: Form, answer: unknown): void {
    if (!isRecord(answer)) return void recorded.recordBroken('answer', 'REFUSED');
    const form = elicitationSchema.safeParse(params);
    if (form.success) {
      const about = { calls: [call.key], thread: THREAD, question: recorded.leg };
      const value = selectedIn(form.data, answer);
      this.observer.log.emit({ kind: 'decided', what: 'choice', by: 'person', value, ...about });
    }
    recorded.recordResponse(200, { body: Content.ofJson(answer) });
  }

  #record({ key }: OpenCall, method: string, params: unknown): RecordedRequest {
    const about = { calls: [key], thread: THREAD, body: Content.ofJson(params ?? null) };
    return this.observer.record(method, { purpose: 'callback', ...about });
  }

  /** The call that a message without a token belongs to: the latest one, or else an earlier one that is open. */
  #latestCall(): OpenCall | undefined {
    if (this.#latest?.call) return this.#latest.call;
    for (const { call } of this.#sent.values()) if (call) return call;
    return undefined;
  }
}

const ELICIT = 'elicitation/create';

/** An id is a string or a number: `1` is not `"1"`. */
function keyOf(id: unknown): string {
  return compactJson(id) ?? '';
}
