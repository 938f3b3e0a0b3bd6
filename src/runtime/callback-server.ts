import { Content } from '../events/content.js';
import type { Verdict, VerdictKind } from '../events/discovery-of.js';
import type { Exchange } from '../events/exchange.js';
import type { History } from '../events/history.js';
import { idOf, judge, rejection } from '../events/judge-callback.js';
import type { Log } from '../events/log.js';
import { type RecordedRequest, recordRequest } from '../events/record-request.js';
import { SecretPaths } from '../http/node-client.js';
import type { Answer, Incoming, Refusal, Reply } from '../http/request-body.js';
import { startServer } from '../http/server.js';
import { type Callback, type CallbackReading, readCallback } from '../protocol/callbacks.js';
import type { Invocation } from '../protocol/read-invocation.js';

/** Where the listener listens, and what it calls itself to the tool. */
export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** The base of our URLs as the tool sees it, without a trailing slash; ours where there is none. */
  readonly publicUrl?: string;
  readonly allowedHosts: readonly string[];
  /** Bytes. */
  readonly maxBody: number;
  /** True unless told: where nobody asks for the bytes of a callback, a large one takes less memory without them. */
  readonly keepBodies?: boolean;
}

interface CallbackServer {
  readonly port: number;
  readonly url: string;
  /** A path of ours as the tool sees it. */
  urlOf(path: string): string;
  close(): Promise<void>;
}

/** A callback that passed the guard. */
export type Arrived = Omit<Incoming, 'body'> & { readonly body: Content };

/** What callbacks are taken for, by what their address stands for. */
interface Taker<Meaning> {
  take(meaning: Meaning, arrived: Arrived): Promise<Reply>;
  /** Keys of the calls that a post concerns which the guard refused. */
  callsOf(meaning: Meaning): readonly string[];
  /** Whether the log is told of one more post that the guard refused, or that came to no address; of each, unless told. */
  isTold?(): boolean;
}

/** What a callback concerns. */
interface Concerns {
  readonly calls?: string[];
  readonly thread?: string;
}

export const CALLBACK_PATH = '/callback/';

/**
 * Serves the addresses there are: guard, token, body; then whoever takes it (threats, rows 1–8).
 * @throws ProtocolCliError `port-in-use`.
 */
export async function serveCallbacks<Meaning>(
  log: Log,
  addresses: Pick<SecretPaths<Meaning>, 'resolve'>,
  options: ListenerOptions,
  { take, callsOf, isTold }: Taker<Meaning>,
): Promise<CallbackServer> {
  const { host, port, publicUrl, allowedHosts, maxBody, keepBodies } = options;
  const meaningOf = (target: string) => addresses.resolve(target.split('?', 1)[0] ?? target);
  const contentOf = ({ body }: Incoming) => {
    if (keepBodies === undefined) return new Content(body);
    return keepBodies ? Content.toBeTaken(body) : Content.readOnce(body);
  };
  const server = await startServer({
    host,
    port,
    allowedHosts: [...allowedHosts, ...(publicUrl ? [new URL(publicUrl).host] : [])],
    maxBody,
    routes: [
      {
        name: 'callback',
        method: 'POST',
        serves: path => addresses.resolve(path) !== undefined,
        accepts: 'json',
        handle: async incoming => {
          const meaning = meaningOf(incoming.target);
          return meaning === undefined
            ? { status: 404 }
            : take(meaning, { ...incoming, body: contentOf(incoming) });
        },
      },
    ],
    onRefused: refusal => {
      if (isTold && !isTold()) return;
      const meaning = meaningOf(refusal.target ?? '');
      recordRefusal(log, refusal, meaning === undefined ? null : callsOf(meaning));
    },
  });
  return {
    port: server.port,
    url: server.url,
    urlOf: path => (publicUrl ?? server.url) + path,
    close: () => server.close(),
  };
}

/** For the tool's own log; nothing of what came is repeated (threats, row 28). */
const WORDS: Partial<Record<VerdictKind, string>> = {
  rejected: 'This is no callback: its body breaks the schema of its type.\n',
  discarded: 'This callback matches no pending call: its group_id and id must be those of the invocation.\n',
};

/**
 * A callback that was judged becomes a fact, and then the answer: what could not be kept must come again.
 * @param ready what the answer waits for; null for nothing
 */
export async function answerCallback(
  log: Log,
  concerns: Concerns,
  arrived: Arrived,
  verdict: Verdict,
  ready: Promise<void> | null = null,
): Promise<Answer> {
  const { status, kind } = verdict;
  const recorded = recordCallback(log, concerns, arrived);
  const answered = await log.kept().then(
    () => status,
    () => 503,
  );
  if (ready) await ready;
  // Where it is no call's, only this says why it did nothing.
  const refusal = concerns.calls || !('reason' in verdict) ? {} : { refusal: verdict.reason };
  recorded.answered(answered, refusal);
  return { status: answered, ...(answered === status && WORDS[kind] !== undefined && { body: WORDS[kind] }) };
}

/** @param keys of the calls whose address it came to; null where the address is nobody's */
function recordRefusal(log: Log, refusal: Refusal, keys: readonly string[] | null): void {
  const concerns = keys === null || keys.length === 0 ? {} : { calls: [...keys] };
  const { method = '', target = '', status, reason, detail } = refusal;
  const shown = keys === null ? withoutTokens(target) : target;
  const recorded = recordCallback(log, concerns, { method, target: shown, headers: {} });
  recorded.answered(status, { refusal: reason === 'no-route' ? 'wrong-address' : detail });
}

/** Records a callback; without a body it was refused before that counted. */
export function recordCallback(
  log: Log,
  concerns: Concerns,
  { method, target, headers, body }: Pick<Arrived, 'method' | 'target' | 'headers'> & { body?: Content },
): RecordedRequest {
  const flat = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
  return recordRequest(log, {
    from: 'tool',
    to: 'runtime',
    purpose: 'callback',
    ...concerns,
    method,
    url: target,
    headers: Object.fromEntries(flat),
    ...(body && { body }),
  });
}

/** Almost a token is almost a secret. */
function withoutTokens(target: string): string {
  return target.replace(/(?:[\w-]|%[\da-f]{2}){16,}/gi, '…');
}

/** What a callback names its call by. */
export interface CallIds {
  readonly groupId: string;
  readonly id: string;
}

/** Of a call that somebody else makes its callbacks show no more than the ids. */
const UNKNOWN = '(unknown)';

/**
 * Calls that somebody else makes, and whose callbacks come here: those that are expected, and nothing else counts; or, where
 * nobody said which, each that a callback names.
 */
export class ForeignCalls {
  readonly #expected = new Set<string>();

  /** @param history must be subscribed to `log` */
  constructor(
    private readonly log: Log,
    private readonly history: History,
    private readonly callbackUrl: string,
  ) {}

  /** From now on only this call counts, and others of which it was said too. */
  expect(ids: CallIds): void {
    this.#expected.add(this.#begin(ids));
  }

  /** Keys of the calls that were said to be expected. */
  get expected(): ReadonlySet<string> {
    return this.#expected;
  }

  /** The call that a callback is to be judged by; undefined where it names none. */
  callOf(reading: CallbackReading): Exchange | undefined {
    const key = reading.ok ? this.#keyOf(reading.message) : this.#only();
    return key === undefined ? undefined : this.history.exchanges.get(key);
  }

  #keyOf(message: Callback): string {
    const { group_id: groupId } = message;
    const id = idOf(message);
    const known = id === undefined ? this.#latestOf(groupId) : keyOf({ groupId, id });
    if (known !== undefined && this.history.exchanges.has(known)) return known;
    return this.#nearest(groupId) ?? this.#begin({ groupId, id: id ?? UNKNOWN });
  }

  #begin(ids: CallIds): string {
    const key = keyOf(ids);
    const invocation: Invocation = {
      operation: UNKNOWN,
      arguments: {},
      id: ids.id,
      callback_url: this.callbackUrl,
      group_id: ids.groupId,
    };
    const body = Content.ofJson(invocation);
    this.log.emit({ kind: 'expected', calls: [key], thread: ids.groupId, body });
    return key;
  }

  /** A view belongs to its thread alone. */
  #latestOf(groupId: string): string | undefined {
    return this.history.threads.get(groupId)?.calls.findLast(key => this.history.exchanges.has(key));
  }

  /** What a stranger is compared with: a call of its thread, else the first. */
  #nearest(groupId: string): string | undefined {
    const keys = [...this.#expected];
    return keys.find(key => this.history.exchanges.get(key)?.invocation.group_id === groupId) ?? keys[0];
  }

  #only(): string | undefined {
    const [key] = this.#expected;
    return this.#expected.size === 1 ? key : undefined;
  }
}

function keyOf({ groupId, id }: CallIds): string {
  return JSON.stringify([groupId, id]);
}

export interface OpenListener extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** What tools are given; `token` is the secret in it. */
  readonly callbackUrl: string;
  readonly token: string;
  /** Whose callbacks they are; where none is expected, each that a callback names. */
  readonly calls: ForeignCalls;
  close(): Promise<void>;
}

/**
 * Takes the callbacks of calls that somebody else makes, all at one address: a callback belongs to the call that it names.
 * @param history must be subscribed to `log`
 * @throws ProtocolCliError `port-in-use`.
 */
export async function startOpenListener(
  log: Log,
  history: History,
  options: ListenerOptions,
): Promise<OpenListener> {
  const addresses = new SecretPaths<'everybody'>(CALLBACK_PATH);
  const { token, path } = addresses.issue('everybody');
  const server: CallbackServer = await serveCallbacks(log, addresses, options, {
    take: (_, arrived) => receive(log, calls, arrived),
    callsOf: () => [],
  });
  const callbackUrl = server.urlOf(path);
  const calls: ForeignCalls = new ForeignCalls(log, history, callbackUrl);
  const { port, url } = server;
  const close = () => server.close();
  return { port, url, callbackUrl, token, calls, close, [Symbol.asyncDispose]: close };
}

async function receive(log: Log, calls: ForeignCalls, arrived: Arrived): Promise<Answer> {
  const { body } = arrived;
  const reading = readCallback(body.json);
  const exchange = calls.callOf(reading);
  if (!exchange) return answerCallback(log, {}, arrived, strayVerdict(reading));
  const concerns = { calls: [exchange.key], thread: exchange.invocation.group_id };
  return answerCallback(log, concerns, arrived, judge(exchange, reading, body.sha256));
}

/** Nobody's callback: it cannot be read, or its ids are those of no call there could be. */
function strayVerdict(reading: CallbackReading): Verdict {
  if (!reading.ok) return rejection(reading.faults);
  return { kind: 'discarded', status: 404, reason: 'its group_id or its id is empty' };
}
