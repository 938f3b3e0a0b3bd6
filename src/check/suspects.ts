import type { RoundTrip } from '../events/round-trips.js';
import { requestsIn, type SentMessages, type ToolCrash } from './server-end.js';
import { isWithin, type ServerRun } from './server-runs.js';

/*
 * Which message ended the tool? Every message that the tool received, and every callback that it sent without success, is a suspect. The
 * most likely one comes first: a message whose connection the tool closed; then one that few tools expect (a notice, a malformed payload);
 * then a callback that was lost or refused; last an ordinary call. Of equal ones, the latest.
 */

/** A message that may have ended the tool. */
type Suspect = Pick<ToolCrash, 'kind' | 'message'>;

function suspectsIn({ calls, closes, cancels }: SentMessages): readonly Suspect[] {
  const ofKind = (kind: ToolCrash['kind'], messages: readonly RoundTrip[]) =>
    messages.map(message => ({ kind, message }));
  return [
    ...ofKind('notice', [...closes, ...cancels]),
    ...calls.flatMap(({ invocation, attempts, callbacks }) => [
      ...ofKind(invocation ? 'call' : 'malformed', attempts),
      ...ofKind(
        'callback',
        callbacks.filter(({ broken, status }) => broken !== null || (status ?? 200) >= 400),
      ),
    ]),
  ];
}

/** Sorts the most likely suspect first. */
function byRank(one: Suspect, other: Suspect): number {
  return rankOf(one) - rankOf(other) || other.message.request.seq - one.message.request.seq;
}

function rankOf({ kind, message }: Suspect): number {
  if (kind === 'call') return 3;
  if (message.failure === 'cut') return 0;
  return kind === 'callback' ? 2 : 1;
}

/** The cause of the exit of a server on which only one call was made, or one probe run. */
export function findCauseOfExit({ from, exit, onlyPlan }: ServerRun, sent: SentMessages): ToolCrash | null {
  const suspects = suspectsIn(sent).filter(
    ({ message }) => isWithin({ from, to: exit.seq }, message.request) && !message.isUnsent,
  );
  // A callback that the exit broke is no cause.
  const causes = suspects.filter(
    ({ kind, message: { broken } }) => kind !== 'callback' || broken?.code !== 'ECONNRESET',
  );
  const own = onlyPlan?.calls ? causes.filter(({ kind }) => kind !== 'notice') : causes;
  const [worst] = own.toSorted(byRank);
  if (!worst) return null;
  const others = own.filter(({ kind }) => kind === worst.kind).length - 1;
  const isAmbiguous = worst.kind === 'call' && others > 0; // an earlier call of the probe may be the cause
  return isAmbiguous ? null : { ...worst, later: { events: [exit.seq] }, exit, others };
}

/** Finds the message that most likely crashed the tool; null if the last request was answered or aborted. */
export function findUnreachable(sent: SentMessages): ToolCrash | null {
  const requests = requestsIn(sent);
  const last = requests.findLastIndex(({ failure }) => failure === null || failure === 'aborted');
  const failed = requests.slice(last + 1);
  const lastAnsweredSeq = requests[last]?.request.seq ?? -1;
  const firstFailure = failed.reduce(
    (first, { lastSeq }) => Math.min(first, lastSeq),
    failed[0]?.lastSeq ?? -1,
  );
  const suspects = suspectsIn(sent).filter(
    ({ message }) =>
      message.request.seq <= firstFailure && !message.isUnsent && message.lastSeq >= lastAnsweredSeq,
  );
  const [worst] = suspects.toSorted(byRank);
  const later = worst && failed.find(({ request }) => request.seq > worst.message.lastSeq);
  if (!worst || !later) return null;
  const others = suspects.filter(({ kind }) => kind === worst.kind).length - 1;
  return { ...worst, later, exit: null, others };
}
