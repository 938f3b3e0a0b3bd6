import type { History } from '../exchange/history.js';
import { judge } from '../exchange/judge.js';
import type { Log } from '../exchange/log.js';
import { readCallback } from '../protocol/callbacks/read.js';
import type { Clock } from '../system/clock.js';
import { SecretPaths } from '../transport/secret-paths.js';
import type { Answer } from '../transport/server.js';
import { acknowledgementWait } from './acknowledgement-wait.js';
import {
  type Arrived,
  answerCallback,
  CALLBACK_PATH,
  type ListenerOptions,
  serveCallbacks,
} from './callback-server.js';

export type { ListenerOptions } from './callback-server.js';

export interface CallbackListener {
  /** A callback URL for one call; `token` is the secret in it. */
  addressFor(key: string): { readonly url: string; readonly token: string };
  close(): Promise<void>;
}

/**
 * Takes callbacks of our own calls: address, schema, match; then the log, then the answer (RT-VALIDATE, RT-MATCH).
 * @throws ProtocolCliError `port-in-use`.
 */
export async function startCallbackListener(
  log: Log,
  history: History,
  clock: Clock,
  options: ListenerOptions,
): Promise<CallbackListener> {
  const addresses = new SecretPaths<string>(CALLBACK_PATH);
  const server = await serveCallbacks(log, addresses, options, {
    take: (key, arrived) => receive({ log, history, clock }, key, arrived),
    callsOf: key => [key],
  });
  return {
    addressFor(key) {
      const { token, path } = addresses.issue(key);
      return { token, url: server.urlOf(path) };
    },
    close: () => server.close(),
  };
}

interface Desk {
  readonly log: Log;
  readonly history: History;
  readonly clock: Clock;
}

/** Judged before it is a fact, since the answer must be what the fold will say of it too. */
async function receive({ log, history, clock }: Desk, key: string, arrived: Arrived): Promise<Answer> {
  const exchange = history.exchanges.get(key);
  if (!exchange) return { status: 404 };
  const { body } = arrived;
  const verdict = judge(exchange, readCallback(body.json), body.sha256);
  const concerns = { calls: [key], thread: exchange.invocation.group_id };
  const ready = verdict.kind === 'settles' ? acknowledgementWait(log, history, clock, key) : null;
  return answerCallback(log, concerns, arrived, verdict, ready);
}
