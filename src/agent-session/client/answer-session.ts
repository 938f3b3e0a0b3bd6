import type { Event } from '../../events/events.js';
import { createLog, type Log } from '../../events/log.js';
import { createNodeClient } from '../../http/node-client.js';
import { systemClock } from '../../system/clock.js';
import type { Answerer } from './answerer.js';
import { createKeyRedactor } from './key-redactor.js';
import type { SessionConnection } from './platform-session.js';
import { SessionClient } from './session-client.js';
import { sessionUrl } from './session-url.js';

/**
 * How a session ended, or its last state on a timeout; without the key.
 * @example
 * const isCompleted = ({ isSettled, status }: SessionEnd) => isSettled && status === 'completed';
 */
export interface SessionEnd {
  readonly id: string;
  readonly status: string;
  /** False after a timeout. */
  readonly isSettled: boolean;
  readonly error: string | null;
  /** The agent's final answer as JSON; undefined without one. */
  readonly answer: unknown;
}

/**
 * Answers the calls of a session until it settles: pending calls are answered concurrently and posted in one body.
 * @param waitMs maximum time without new events; 0 waits forever
 * @throws ProtocolCliError `unreachable`, `platform-refused`, `bad-answer`, `interrupted`.
 */
export async function answerUntilSettled(
  connection: SessionConnection,
  answerer: Answerer,
  waitMs: number,
): Promise<SessionEnd> {
  const redact = createKeyRedactor(connection.key);
  const log: Log = { ...connection.log, emit: fact => connection.log.emit(redact(fact)) };
  const client = new SessionClient({ ...connection, log }, answerer);
  await client.run(waitMs);
  const { status, isSettled, error, answer } = client.session;
  return redact({ id: connection.thread, status, isSettled, error, answer });
}

/**
 * Who answers a session, and for how long.
 * @example
 * const options: AnswerSessionOptions = { key: 'my-key', answerer: answerWith({ ping: () => 'pong' }), waitMs: 30_000 };
 */
export interface AnswerSessionOptions {
  /** API key, sent as the bearer token only to the origin of the URL. */
  readonly key: string;
  readonly answerer: Answerer;
  /** Called with every event. */
  readonly onEvent?: (event: Event) => void;
  /** Maximum time without new events, in ms; default: no limit. */
  readonly waitMs?: number;
  /** Makes the call throw `interrupted` when aborted. */
  readonly signal?: AbortSignal;
}

/**
 * Answers the pending tool calls of an agent session until it settles (seed 001).
 * @param base URL of the platform, without `/api/v2`
 * @throws ProtocolCliError `usage`, `unreachable`, `refused-address`, `platform-refused`, `bad-answer`, `interrupted`
 * @example
 * const answerer = answerWith({ lookup_order: ({ order_id }) => `order ${order_id}: shipped` });
 * const { status, answer } = await answerSession('http://127.0.0.1:3002', '00000000-0000-4000-8000-000000000001', { key: 'my-key', answerer });
 */
export async function answerSession(
  base: string,
  id: string,
  { key, answerer, onEvent, waitMs = 0, signal = new AbortController().signal }: AnswerSessionOptions,
): Promise<SessionEnd> {
  const url = sessionUrl(base, id);
  const clock = systemClock;
  const log = createLog(clock.now);
  if (onEvent) log.subscribe(onEvent);
  const client = createNodeClient();
  try {
    return await answerUntilSettled({ client, log, clock, url, thread: id, key, signal }, answerer, waitMs);
  } finally {
    await client.close();
  }
}
