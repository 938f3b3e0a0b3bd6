import { type CallEnd, tellingEnd } from '../events/call-ends.js';
import type { RoundTrip } from '../events/round-trips.js';
import { isQuestion } from '../protocol/callbacks.js';
import { llmText } from '../protocol/outcome.js';
import type { CallbackEvidence } from './callback-evidence.js';
import { isErrorText } from './error-text.js';
import type { OptionalMember } from './members.js';
import { isAcknowledged, messagesOf, type RecordedCall } from './recorded-call.js';

/** What the events of a call alone do not show: its tool and the other calls decide. */
interface CallFindings {
  /** Errors of the arguments against the tool's `inputSchema`; null if they could not be checked. */
  readonly argumentFaults: readonly string[] | null;
  /** The members beside the required ones because of which the call was refused. */
  readonly refusedMembers: readonly OptionalMember[];
  /** Posts to a wrong address that name it. */
  readonly strays: readonly CallbackEvidence[];
  /** Whether its tool crashed before the call ended, and it is not known to be the cause. */
  readonly isInterrupted: boolean;
}

/** One invocation, valid or not, and everything that followed. */
export interface CallEvidence extends RecordedCall, CallFindings {
  /** Why the tool must not execute the call; null if nothing is known. */
  readonly flaw: 'malformed' | 'unknown-operation' | 'bad-arguments' | null;
  readonly ending: Ending;
  /** What a summary counts it as. */
  readonly end: CallEnd;
}

/** How a call ended, as far as the events show. */
export type Ending =
  /** `isError`: by convention, or because it reads like an error. */
  | {
      readonly kind: 'result';
      readonly callback: CallbackEvidence;
      readonly text: string;
      readonly isError: boolean;
    }
  | { readonly kind: 'asked'; readonly callback: CallbackEvidence }
  | { readonly kind: 'refused'; readonly attempt: RoundTrip; readonly status: number }
  | { readonly kind: 'silent'; readonly afterMs: number }
  /** Only an invalid callback came. */
  | { readonly kind: 'unreadable' }
  /** It was canceled, or its thread closed. */
  | { readonly kind: 'called-off' }
  /** It was not acknowledged. */
  | { readonly kind: 'unanswered' }
  /** Its tool crashed before. */
  | { readonly kind: 'interrupted' }
  /** The events end before the call does. */
  | { readonly kind: 'open' };

export function callEvidence(call: RecordedCall, findings: CallFindings): CallEvidence {
  return {
    ...call,
    ...findings,
    flaw: flawOf(call, findings),
    ending: endingOf(call, findings),
    end: endOf(call, findings),
  };
}

function flawOf(
  { invocation, tool, isToolsetKnown }: RecordedCall,
  { argumentFaults }: CallFindings,
): CallEvidence['flaw'] {
  if (!invocation) return 'malformed';
  if (tool) return argumentFaults?.length ? 'bad-arguments' : null;
  return isToolsetKnown ? 'unknown-operation' : null;
}

function endingOf(call: RecordedCall, findings: CallFindings): Ending {
  return resultOf(call) ?? refusalOf(call) ?? otherCallbackOf(call) ?? absenceOf(call, findings);
}

function resultOf(call: RecordedCall): Ending | null {
  const [first] = messagesOf(call, 'tool_result');
  if (!first) return null;
  const { timeout, canceledAtSeq, invocation } = call;
  // A result after a timeout and a cancel may have been caused by the cancel.
  if (timeout && timeout.seq < canceledAtSeq && canceledAtSeq < first.callback.request.seq) return null;
  const text = llmText(first.message);
  return { kind: 'result', callback: first.callback, text, isError: isErrorText(text, invocation) };
}

function refusalOf({ attempts }: RecordedCall): Ending | null {
  const attempt = attempts.findLast(({ status }) => status !== null);
  const status = attempt?.status ?? 200;
  return attempt && status !== 200 ? { kind: 'refused', attempt, status } : null;
}

function otherCallbackOf({ callbacks }: RecordedCall): Ending | null {
  const callback = callbacks.find(({ typeName }) => isQuestion({ type: typeName }));
  if (callback) return { kind: 'asked', callback };
  return callbacks.some(({ message }) => message === null) ? { kind: 'unreadable' } : null;
}

function absenceOf(call: RecordedCall, { isInterrupted }: CallFindings): Ending {
  const { timeout, canceledAtSeq } = call;
  if (canceledAtSeq < (timeout?.seq ?? Number.POSITIVE_INFINITY)) return { kind: 'called-off' };
  if (!isAcknowledged(call)) return { kind: 'unanswered' };
  if (isInterrupted) return { kind: 'interrupted' };
  return timeout ? { kind: 'silent', afterMs: timeout.afterMs } : { kind: 'open' };
}

function endOf(call: RecordedCall, { strays }: CallFindings): CallEnd {
  const ofCallbacks = call.callbacks.map(({ typeName, isRefused }): CallEnd => {
    if (typeName !== 'tool_result') return 'unfinished';
    return isRefused ? 'refused' : 'result';
  });
  return tellingEnd([
    ...ofCallbacks,
    ...(strays.length > 0 ? ['wrong-address' as const] : []),
    ...(call.cancels.length > 0 || call.isCanceledHere ? ['canceled' as const] : []),
    ...(isAcknowledged(call) ? ['silent' as const] : []),
  ]);
}

/** Whether one of these events is a request of this call. */
export function isAbout(
  { attempts, callbacks, strays, selections, cancels }: CallEvidence,
  events: ReadonlySet<number>,
): boolean {
  return [attempts, callbacks, strays, selections, cancels]
    .flat()
    .some(({ request }) => events.has(request.seq));
}
