import { Content } from '../exchange/content.js';
import type { Log } from '../exchange/log.js';
import type { Verdict, VerdictKind } from '../exchange/verdict.js';
import type { SecretPaths } from '../transport/secret-paths.js';
import { type Answer, type Incoming, type Refusal, type Reply, startServer } from '../transport/server.js';

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

export interface CallbackServer {
  readonly port: number;
  readonly url: string;
  /** A path of ours as the tool sees it. */
  urlOf(path: string): string;
  close(): Promise<void>;
}

/** A callback that passed the guard. */
export type Arrived = Omit<Incoming, 'body'> & { readonly body: Content };

/** What callbacks are taken for, by what their address stands for. */
export interface Taker<Meaning> {
  take(meaning: Meaning, arrived: Arrived): Promise<Reply>;
  /** Keys of the calls that a post concerns which the guard refused. */
  callsOf(meaning: Meaning): readonly string[];
  /** Whether the log is told of one more post that the guard refused, or that came to no address; of each, unless told. */
  isTold?(): boolean;
}

/** What a callback concerns. */
export interface Concerns {
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
  const contentOf = ({ body }: Incoming) =>
    keepBodies === false ? Content.readOnce(body) : new Content(body);
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
  const leg = tellCallback(log, concerns, arrived);
  const answered = await log.kept().then(
    () => status,
    () => 503,
  );
  if (ready) await ready;
  // Where it is no call's, only this says why it did nothing.
  const refusal = concerns.calls || !('reason' in verdict) ? {} : { refusal: verdict.reason };
  const { calls } = concerns;
  log.emit({ kind: 'response', leg, status: answered, headers: {}, ...(calls && { calls }), ...refusal });
  return { status: answered, ...(answered === status && WORDS[kind] !== undefined && { body: WORDS[kind] }) };
}

/** @param keys of the calls whose address it came to; null where the address is nobody's */
function recordRefusal(log: Log, refusal: Refusal, keys: readonly string[] | null): void {
  const concerns = keys === null || keys.length === 0 ? {} : { calls: [...keys] };
  const { method = '', target = '', status, reason, detail } = refusal;
  const shown = keys === null ? withoutTokens(target) : target;
  const leg = tellCallback(log, concerns, { method, target: shown, headers: {} });
  log.emit({
    kind: 'response',
    leg,
    status,
    headers: {},
    refusal: reason === 'no-route' ? 'wrong-address' : detail,
    ...concerns,
  });
}

/** A callback that came, as a fact; without a body it was refused before that counted. Returns its leg. */
export function tellCallback(
  log: Log,
  concerns: Concerns,
  { method, target, headers, body }: Pick<Arrived, 'method' | 'target' | 'headers'> & { body?: Content },
): string {
  const leg = log.leg();
  const flat = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
  log.emit({
    kind: 'request',
    leg,
    from: 'tool',
    to: 'runtime',
    purpose: 'callback',
    attempt: 1,
    ...concerns,
    method,
    url: target,
    headers: Object.fromEntries(flat),
    ...(body && { body }),
  });
  return leg;
}

/** Almost a token is almost a secret. */
function withoutTokens(target: string): string {
  return target.replace(/(?:[\w-]|%[\da-f]{2}){16,}/gi, '…');
}
