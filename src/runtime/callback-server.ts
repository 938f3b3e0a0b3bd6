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

/** Where the listener listens, and its address as the tool sees it. */
export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** Base URL as the tool sees it, without a trailing slash; default: the listener's own. */
  readonly publicUrl?: string;
  readonly allowedHosts: readonly string[];
  readonly maxBody: number;
  /** False: the bytes of a callback are not kept, which takes less memory for a large one. */
  readonly keepBodies?: boolean;
}

export interface CallbackServer {
  readonly port: number;
  readonly url: string;
  /** The URL of a path as the tool sees it. */
  urlOf(path: string): string;
  close(): Promise<void>;
}

export type Arrived = Omit<Incoming, 'body'> & { readonly body: Content };

interface Taker<Meaning> {
  take(meaning: Meaning, arrived: Arrived): Promise<Reply>;
  /** Keys of the calls that a refused post concerns. */
  callsOf(meaning: Meaning): readonly string[];
  /** Whether one more refused post is recorded; default: each is. */
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

/** For the log of the tool; repeats nothing that came (threats, row 28). */
const EXPLANATIONS: Partial<Record<VerdictKind, string>> = {
  rejected: 'Invalid callback: the body does not match the schema of its type.\n',
  discarded: 'This callback matches no pending call: its group_id and id must be those of the invocation.\n',
};

/**
 * Records a callback that was judged, then answers it: a callback that could not be kept must come again.
 * @param ready what the answer waits for
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
  // For a callback of no call, only the refusal says why it had no effect.
  recorded.answered(status, !concerns.calls && 'reason' in verdict ? { refusal: verdict.reason } : {});
  const body = status === verdict.status ? EXPLANATIONS[verdict.kind] : undefined;
  return { status, ...(body !== undefined && { body }) };
}

/** @param keys of the calls whose address it came to; null for an unknown address */
function recordRefusal(log: Log, refusal: Refusal, keys: readonly string[] | null): void {
  const { method = '', target = '', status, reason, detail } = refusal;
  const concerns = keys?.length ? { calls: [...keys] } : {};
  // What looks like a token could be nearly one of ours.
  const shown = keys === null ? target.replace(/(?:[\w-]|%[\da-f]{2}){16,}/gi, '…') : target;
  const recorded = recordCallback(log, concerns, { method, target: shown, headers: {} });
  recorded.answered(status, { refusal: reason === 'no-route' ? 'wrong-address' : detail });
}

/** Records a callback; without a body it was refused before that was read. */
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

/** Shown for what the callbacks of another program's call do not tell. */
const UNKNOWN = '(unknown)';

/**
 * The calls of another program whose callbacks come here: the expected ones only, or, if none is expected, each that a callback names.
 */
export class ForeignCalls {
  readonly #expected = new Set<string>();

  /** @param history must be subscribed to `log` */
  constructor(
    private readonly log: Log,
    private readonly history: History,
    private readonly callbackUrl: string,
  ) {}

  /** From now on only expected calls count. */
  expect(ids: CallIds): void {
    this.#expected.add(this.#begin(ids));
  }

  get expected(): ReadonlySet<string> {
    return this.#expected;
  }

  /** The call that a callback is judged by; undefined if it names none. */
  callOf(reading: CallbackReading): Exchange | undefined {
    const key = reading.ok ? this.#keyOf(reading.message) : this.#only();
    return key === undefined ? undefined : this.history.exchanges.get(key);
  }

  #keyOf(message: Callback): string {
    const { group_id: groupId } = message;
    const { exchanges, threads } = this.history;
    const id = idOf(message);
    // A view belongs to its thread alone: its latest call shows it.
    const known =
      id === undefined
        ? threads.get(groupId)?.calls.findLast(key => exchanges.has(key))
        : JSON.stringify([groupId, id]);
    if (known !== undefined && exchanges.has(known)) return known;
    // An unexpected callback is compared with a call of its thread, or with the first.
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
  /** What tools are given; `token` is the secret in it. */
  readonly callbackUrl: string;
  readonly token: string;
  readonly calls: ForeignCalls;
  close(): Promise<void>;
}

/**
 * Receives the callbacks of another program's calls, all at one address: a callback belongs to the call that it names.
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
    if (!exchange) return answerCallback(log, {}, arrived, strayVerdict(reading));
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

/** For a callback that cannot be read, or whose ids no call can have. */
function strayVerdict(reading: CallbackReading): Verdict {
  if (!reading.ok) return rejection(reading.faults);
  return { kind: 'discarded', status: 404, reason: 'its group_id or its id is empty' };
}
