import { Content } from '../events/content.js';
import type { Exchange, Verdict, VerdictKind } from '../events/exchange.js';
import { idOf, judge, rejection } from '../events/fold-exchange.js';
import type { History } from '../events/history.js';
import { type Log, type RecordedRequest, recordRequest } from '../events/log.js';
import type { Answer, Incoming, Refusal, Reply } from '../http/route.js';
import { SecretPaths } from '../http/secret-paths.js';
import { startServer } from '../http/server.js';
import { type Callback, type CallbackReading, readCallback } from '../protocol/callbacks.js';
import type { Invocation } from '../protocol/invocation.js';

/** Where the listener listens, and its address for the tool. */
export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** Base URL for the tool, without a trailing slash; default: the listener's own. */
  readonly publicUrl?: string | undefined;
  readonly allowedHosts: readonly string[];
  readonly maxBody: number;
  /** If false, the bytes of callbacks are not kept, which saves memory. */
  readonly keepBodies?: boolean;
}

export interface CallbackServer {
  readonly port: number;
  readonly url: string;
  /** Returns the URL of a path for the tool. */
  urlOf(path: string): string;
  close(): Promise<void>;
}

export type Arrived = Omit<Incoming, 'body'> & { readonly body: Content };

interface Taker<Meaning> {
  take(meaning: Meaning, arrived: Arrived): Promise<Reply>;
  /** Returns the keys of the calls that a refused POST concerns. */
  callsOf(meaning: Meaning): readonly string[];
  /** Whether to record one more refused POST; default: always. */
  isTold?(): boolean;
}

interface Concerns {
  readonly calls?: string[];
  readonly thread?: string;
}

export const CALLBACK_PATH = '/callback/';

/**
 * Serves the issued addresses: guard, token, body, then `take` (threats, rows 1–8).
 * @throws ProtocolCliError `port-in-use`.
 */
export async function serveCallbacks<Meaning>(
  log: Log,
  addresses: Pick<SecretPaths<Meaning>, 'resolve'>,
  { host, port, publicUrl, allowedHosts, maxBody, keepBodies }: ListenerOptions,
  { take, callsOf, isTold = () => true }: Taker<Meaning>,
): Promise<CallbackServer> {
  const meaningOf = (target = '') => addresses.resolve(target.split('?', 1)[0] ?? '');
  const contentOf = (body: Incoming['body']) => {
    if (keepBodies === undefined) return new Content(body);
    return keepBodies ? Content.asText(body) : Content.readOnce(body);
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
          if (meaning === undefined) return { status: 404 };
          return take(meaning, { ...incoming, body: contentOf(incoming.body) });
        },
      },
    ],
    onRefused: refusal => {
      if (!isTold()) return;
      const meaning = meaningOf(refusal.target);
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

/** Answers for the tool's log; they repeat nothing from the request (threats, row 28). */
const EXPLANATIONS: Partial<Record<VerdictKind, string>> = {
  rejected: 'Invalid callback: the body does not match the schema of its type.\n',
  discarded: 'This callback matches no pending call: its group_id and id must be those of the invocation.\n',
};

/**
 * Records a judged callback, then answers it. If it could not be recorded, the answer makes the tool send it again.
 * @param ready the answer waits for this
 */
export async function answerCallback(
  log: Log,
  concerns: Concerns,
  arrived: Arrived,
  verdict: Verdict,
  ready: Promise<void> | null = null,
): Promise<Answer> {
  const recorded = recordCallback(log, concerns, arrived);
  const status = await log.kept().then(
    () => verdict.status,
    () => 503,
  );
  await ready;
  // If a callback belongs to no call, only the refusal explains why it had no effect.
  recorded.answered(status, !concerns.calls && 'reason' in verdict ? { refusal: verdict.reason } : {});
  const body = status === verdict.status ? EXPLANATIONS[verdict.kind] : undefined;
  return { status, ...(body !== undefined && { body }) };
}

/** @param keys of the calls whose address it was sent to; null for an unknown address */
function recordRefusal(log: Log, refusal: Refusal, keys: readonly string[] | null): void {
  const { method = '', target = '', headers = {}, status, reason, detail } = refusal;
  const concerns = keys?.length ? { calls: [...keys] } : {};
  // Masks anything that looks like a token: it could be nearly a valid one.
  const shown = keys === null ? target.replace(/(?:[\w-]|%[\da-f]{2}){16,}/gi, '…') : target;
  const recorded = recordCallback(log, concerns, { method, target: shown, headers });
  recorded.answered(status, { refusal: reason === 'no-route' ? 'wrong-address' : detail });
}

/** Records a callback. Without a body, the request was refused before its body was read. */
export function recordCallback(
  log: Log,
  concerns: Concerns,
  { method, target: url, headers, body }: Pick<Arrived, 'method' | 'target' | 'headers'> & { body?: Content },
): RecordedRequest {
  const flat = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  return recordRequest(log, {
    from: 'tool',
    to: 'runtime',
    purpose: 'callback',
    ...concerns,
    method,
    url,
    headers: flat,
    ...(body && { body }),
  });
}

/** The ids by which a callback names its call. */
export interface CallIds {
  readonly groupId: string;
  readonly id: string;
}

/** Shown for fields of another program's call that its callbacks do not contain. */
const UNKNOWN = '(unknown)';

/** The calls of another program whose callbacks arrive here: the expected ones or, without any, every call that is named. */
export class ForeignCalls {
  readonly #expected = new Set<string>();

  /** @param history must be subscribed to `log` */
  constructor(
    private readonly log: Log,
    private readonly history: History,
    private readonly callbackUrl: string,
  ) {}

  /** Restricts the calls to expected ones, and adds this one. */
  expect(ids: CallIds): void {
    this.#expected.add(this.#begin(ids));
  }

  get expected(): ReadonlySet<string> {
    return this.#expected;
  }

  /** Returns the call that a callback is judged by; undefined if it names none. */
  callOf(reading: CallbackReading): Exchange | undefined {
    const key = reading.ok ? this.#keyOf(reading.message) : this.#only();
    return key === undefined ? undefined : this.history.exchanges.get(key);
  }

  #keyOf(message: Callback): string {
    const { group_id: groupId } = message;
    const { exchanges, threads } = this.history;
    const id = idOf(message);
    // A view belongs to its thread alone and is shown with the thread's latest call.
    const known =
      id === undefined
        ? threads.get(groupId)?.calls.findLast(key => exchanges.has(key))
        : JSON.stringify([groupId, id]);
    if (known !== undefined && exchanges.has(known)) return known;
    // An unexpected callback is compared with a call of its thread, or with the first expected call.
    const expected = [...this.#expected];
    const nearest = expected.find(key => exchanges.get(key)?.invocation.group_id === groupId) ?? expected[0];
    return nearest ?? this.#begin({ groupId, id: id ?? UNKNOWN });
  }

  #begin({ groupId, id }: CallIds): string {
    const key = JSON.stringify([groupId, id]);
    const invocation: Invocation = {
      operation: UNKNOWN,
      arguments: {},
      id,
      callback_url: this.callbackUrl,
      group_id: groupId,
    };
    const body = Content.ofJson(invocation);
    this.log.emit({ kind: 'expected', calls: [key], thread: groupId, body });
    return key;
  }

  #only(): string | undefined {
    const [key] = this.#expected;
    return this.#expected.size === 1 ? key : undefined;
  }
}

export interface OpenListener extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** The callback URL for tools; `token` is its secret part. */
  readonly callbackUrl: string;
  readonly token: string;
  readonly calls: ForeignCalls;
  close(): Promise<void>;
}

/**
 * Receives the callbacks of another program's calls at one address and assigns each to the call that it names.
 * @param history must be subscribed to `log`
 * @throws ProtocolCliError `port-in-use`.
 */
export async function startOpenListener(
  log: Log,
  history: History,
  options: ListenerOptions,
): Promise<OpenListener> {
  const addresses = new SecretPaths<'any call'>(CALLBACK_PATH);
  const { token, path } = addresses.issue('any call');
  const receive = async (arrived: Arrived): Promise<Answer> => {
    const reading = readCallback(arrived.body.json);
    const exchange = calls.callOf(reading);
    if (!exchange) return answerCallback(log, {}, arrived, unassignedVerdict(reading));
    const concerns = { calls: [exchange.key], thread: exchange.invocation.group_id };
    return answerCallback(log, concerns, arrived, judge(exchange, reading, arrived.body.sha256));
  };
  const server: CallbackServer = await serveCallbacks(log, addresses, options, {
    take: (_, arrived) => receive(arrived),
    callsOf: () => [],
  });
  const callbackUrl = server.urlOf(path);
  const calls = new ForeignCalls(log, history, callbackUrl);
  const { port, url, close } = server;
  return { port, url, callbackUrl, token, calls, close, [Symbol.asyncDispose]: close };
}

/** Judges a callback that is invalid or whose ids cannot belong to a call. */
function unassignedVerdict(reading: CallbackReading): Verdict {
  if (!reading.ok) return rejection(reading.faults);
  return { kind: 'discarded', status: 404, reason: 'its group_id or its id is empty' };
}
