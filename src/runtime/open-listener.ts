import type { History } from '../exchange/history.js';
import { judge, rejection } from '../exchange/judge.js';
import type { Log } from '../exchange/log.js';
import type { Verdict } from '../exchange/verdict.js';
import { type CallbackReading, readCallback } from '../protocol/callbacks/read.js';
import { SecretPaths } from '../transport/secret-paths.js';
import type { Answer } from '../transport/server.js';
import {
  type Arrived,
  answerCallback,
  CALLBACK_PATH,
  type CallbackServer,
  type ListenerOptions,
  serveCallbacks,
} from './callback-server.js';
import { ForeignCalls } from './foreign-calls.js';

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
