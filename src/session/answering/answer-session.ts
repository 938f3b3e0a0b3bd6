import type { Event } from '../../exchange/events.js';
import { createLog } from '../../exchange/log.js';
import { systemClock } from '../../system/clock.js';
import { createNodeClient } from '../../transport/node-client.js';
import type { Answerer } from './answerer.js';
import { answering, type SessionEnd } from './answering.js';
import { sessionUrl } from './session-url.js';

export interface AnswerSessionOptions {
  /** Sent as the bearer token to the origin of the URL, and told to nobody. */
  readonly key: string;
  readonly answerer: Answerer;
  /** Told every event as it happens. */
  readonly onEvent?: (event: Event) => void;
  /** Milliseconds without news after which it is given up; for ever unless told. */
  readonly waitMs?: number;
  /** Aborted, it ends with `interrupted`. */
  readonly signal?: AbortSignal;
}

/**
 * Answers the pending tool calls of an agent session until it settles (seed 001).
 * @param base of the platform, without `/api/v2`
 * @throws ProtocolCliError `usage`, `unreachable`, `refused-address`, `platform-refused`, `bad-answer`, `interrupted`.
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
    return await answering({ client, log, clock, url, thread: id, key, signal }, answerer, waitMs);
  } finally {
    await client.close();
  }
}
