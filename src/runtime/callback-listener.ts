import { Content } from '../exchange/content.js';
import type { History } from '../exchange/history.js';
import { judge } from '../exchange/judge.js';
import type { Log } from '../exchange/log.js';
import type { VerdictKind } from '../exchange/verdict.js';
import { readCallback } from '../protocol/callbacks/read.js';
import {
  type Answer,
  type Incoming,
  type Refusal,
  type RunningServer,
  startServer,
} from '../transport/server.js';
import { CallbackAddresses } from './callback-addresses.js';

/** Where the listener listens, and what it calls itself to the tool. */
export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** The base of our URLs as the tool sees it, without a trailing slash; ours where there is none. */
  readonly publicUrl?: string;
  readonly allowedHosts: readonly string[];
  /** Bytes. */
  readonly maxBody: number;
}

export interface CallbackListener {
  /** A callback URL for one call; `token` is the secret in it. */
  addressFor(key: string): { readonly url: string; readonly token: string };
  close(): Promise<void>;
}

/**
 * Takes callbacks: guard, token, body, schema, match; then the log, then the answer (RT-VALIDATE, RT-MATCH; threats, rows 1–8).
 * @throws ProtocolCliError `port-in-use`.
 */
export async function startCallbackListener(
  log: Log,
  history: History,
  options: ListenerOptions,
): Promise<CallbackListener> {
  const addresses = new CallbackAddresses();
  const pathOf = (target: string) => target.split('?', 1)[0] ?? target;
  const server: RunningServer = await startServer({
    host: options.host,
    port: options.port,
    allowedHosts: [...options.allowedHosts, ...(options.publicUrl ? [new URL(options.publicUrl).host] : [])],
    maxBody: options.maxBody,
    routes: [
      {
        name: 'callback',
        method: 'POST',
        serves: path => addresses.resolve(path) !== undefined,
        accepts: 'json',
        handle: incoming => receive(log, history, addresses.resolve(pathOf(incoming.target)), incoming),
      },
    ],
    onRefused: refusal => recordRefusal(log, addresses.resolve(pathOf(refusal.target ?? '')), refusal),
  });
  return {
    addressFor(key) {
      const { token, path } = addresses.issue(key);
      return { token, url: (options.publicUrl ?? server.url) + path };
    },
    close: () => server.close(),
  };
}

/** For the tool's own log; nothing of what came is repeated (threats, row 28). */
const WORDS: Partial<Record<VerdictKind, string>> = {
  rejected: 'This is no callback: its body breaks the schema of its type.\n',
  discarded: 'This callback matches no pending call: its group_id and id must be those of the invocation.\n',
};

/** Judged before it is a fact, since the answer must be what the fold will say of it too. */
async function receive(
  log: Log,
  history: History,
  key: string | undefined,
  incoming: Incoming,
): Promise<Answer> {
  const exchange = key === undefined ? undefined : history.exchanges.get(key);
  if (key === undefined || !exchange) return { status: 404 };
  const leg = log.leg();
  const body = new Content(incoming.body);
  const { status, kind } = judge(exchange, readCallback(body.json), body.sha256);
  const calls = [key];
  log.emit({
    kind: 'request',
    leg,
    purpose: 'callback',
    attempt: 1,
    calls,
    thread: exchange.invocation.group_id,
    ...about(incoming),
    body,
  });
  const answered = await log.kept().then(
    () => status,
    () => 503, // what is not kept must come again
  );
  log.emit({ kind: 'response', leg, status: answered, headers: {}, calls });
  return { status: answered, ...(answered === status && WORDS[kind] !== undefined && { body: WORDS[kind] }) };
}

function recordRefusal(log: Log, key: string | undefined, refusal: Refusal): void {
  const leg = log.leg();
  const concerns = key === undefined ? {} : { calls: [key] };
  const { method = '', target = '', status, reason, detail } = refusal;
  log.emit({
    kind: 'request',
    leg,
    purpose: 'callback',
    attempt: 1,
    ...concerns,
    ...about({ method, target: key === undefined ? withoutTokens(target) : target, headers: {} }),
  });
  log.emit({
    kind: 'response',
    leg,
    status,
    headers: {},
    refusal: reason === 'no-route' ? 'wrong-address' : detail,
    ...concerns,
  });
}

function about({ method, target, headers }: Pick<Incoming, 'method' | 'target' | 'headers'>) {
  const flat = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
  return { from: 'tool', to: 'runtime', method, url: target, headers: Object.fromEntries(flat) } as const;
}

/** Almost a token is almost a secret. */
function withoutTokens(target: string): string {
  return target.replace(/[\w-]{16,}/g, '…');
}
