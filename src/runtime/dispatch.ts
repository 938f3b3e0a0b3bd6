import type { Invocation } from '../protocol/invocation.js';
import { type HttpAnswer, type ReadLimit, TransportError } from '../transport/client.js';
import { retrying } from '../transport/retry.js';
import { judgeAcknowledgement } from './acknowledgement.js';
import { readAcknowledgement } from './read-acknowledgement.js';
import { send, type Wire } from './wire.js';

/** All tries together end within this time. */
const RETRY_WITHIN_MS = 2_000;
const EXCERPT_BYTES = 4 * 1024;

export interface Dispatch {
  readonly key: string;
  readonly endpoint: string;
  readonly invocation: Invocation;
  readonly retries: number;
  readonly lenient: boolean;
  /** Whether the tool has called back: then it has the invocation, whatever it answers (RT-PENDING). */
  readonly hasCalledBack: () => boolean;
  readonly signal: AbortSignal;
}

class NotAccepted extends Error {
  constructor(readonly again: boolean) {
    super('the invocation was not accepted');
  }
}

/**
 * POSTs the invocation until it is acknowledged or refused, and tells the log. Resolves in either case: what it came to
 * follows from the events. Only unreachable tools and 5xx are tried again (RT-RETRY, RT-NORETRY), and none that has called back.
 */
export async function dispatch(wire: Wire, call: Dispatch): Promise<void> {
  const { retries, hasCalledBack, signal } = call;
  try {
    await retrying(attempt => post(wire, call, attempt), {
      retries,
      within: RETRY_WITHIN_MS,
      shouldRetry: error => !hasCalledBack() && mayBeSentAgain(error),
      signal,
    });
  } catch (error) {
    if (!(error instanceof NotAccepted || error instanceof TransportError || signal.aborted)) throw error;
    if (!signal.aborted && !hasCalledBack())
      wire.log.emit({ kind: 'decided', what: 'give-up', by: 'policy', calls: [call.key] });
  }
}

async function post(
  wire: Wire,
  { key, endpoint, invocation, lenient, signal }: Dispatch,
  attempt: number,
): Promise<void> {
  const answer = await send(
    wire,
    { purpose: 'invocation', attempt, calls: [key], thread: invocation.group_id },
    {
      method: 'POST',
      url: endpoint,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(invocation)),
      read: readBeginning,
      signal,
      timeoutMs: 0, // the call's own timeout ends it
    },
  );
  const acknowledgement = judgeAcknowledgement(answer.status, lenient);
  if (acknowledgement !== 'accepted') throw new NotAccepted(acknowledgement === 'retry');
}

function mayBeSentAgain(error: unknown): boolean {
  if (error instanceof NotAccepted) return error.again;
  return error instanceof TransportError && error.phase !== 'address';
}

/** That of a refusal helps a person; that of an acknowledgement tells that there is one. */
function readBeginning(status: number, headers: HttpAnswer['headers']): ReadLimit {
  return status === 200 ? readAcknowledgement(status, headers) : { maxBytes: EXCERPT_BYTES, partial: true };
}
