import type { Answer, Feature } from '../../dialects/dialect.js';
import { sessionDialect } from '../../dialects/session.js';
import { Content } from '../../exchange/content.js';
import { foreignWords } from '../../text/foreign-words.js';
import { isRecord } from '../../text/is-record.js';
import { answeredCall, clientError } from './answerer.js';
import type { PendingCall } from './pending-calls.js';
import type { PlatformDesk } from './recorded-send.js';

/** A call with its answer, as it is posted. */
export interface Settled {
  readonly call: PendingCall;
  /** What became of it: `tool_result` or `error_event`. */
  readonly kind: string;
  /** JSON. */
  readonly bytes: Uint8Array;
  /** What the model should have had, and this wire cannot carry; in words. */
  readonly losses: readonly string[];
}

/** Whatever else a wire has is for people, or for programs, and is expected to stay here. */
const FOR_THE_MODEL: ReadonlySet<Feature> = new Set([
  'images',
  'other content',
  'structured content',
  'subscription',
]);

/** The answer on the session's wire, `tool_req` echoed whole (seed 001). What is no JSON becomes an error that says so. */
export function settle(call: PendingCall, answer: Answer): Settled {
  try {
    return written(call, answer);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return written(call, clientError(call, `the result is no JSON: ${why}`));
  }
}

/** An error in the place of an answer that cannot be posted. */
export function settleWithError(call: PendingCall, message: string): Settled {
  return written(call, clientError(call, message));
}

/** An answer that is ready becomes a fact, and so does what is lost of it. */
export function tellAnswered(
  { log, thread }: Pick<PlatformDesk, 'log' | 'thread'>,
  settled: Settled,
): Settled {
  const { call, losses } = settled;
  const concerns = { thread, calls: [call.key] };
  log.emit({ kind: 'answered', by: 'client', ...concerns, body: new Content(settled.bytes) });
  for (const message of losses)
    log.emit({ kind: 'warned', ...concerns, message: `${call.tool}: ${message}` });
  return settled;
}

function written(call: PendingCall, answer: Answer): Settled {
  const { body, losses } = sessionDialect.write({ ...answer, call: answeredCall(call) });
  const told = losses.filter(({ feature }) => FOR_THE_MODEL.has(feature)).map(({ message }) => message);
  const kind = isRecord(body) ? foreignWords(body['kind']) : '';
  if (isRecord(body) && 'result' in body && JSON.stringify(body['result']) === undefined)
    throw new TypeError(`JSON has nothing for a ${typeof body['result']}`); // it would be left out in silence
  return { call, kind, bytes: Buffer.from(JSON.stringify(body)), losses: told };
}
