import { breakOf } from './break.js';
import type { Culprit, Death, Evidence } from './evidence.js';
import { goneIn } from './gone.js';
import { type Leg, statusOf } from './leg.js';
import { isResult } from './results.js';

interface Suspect {
  readonly kind: Culprit;
  readonly message: Leg;
}

type Seen = Pick<Evidence, 'calls' | 'discoveries' | 'closes' | 'cancels' | 'migrations'>;

/** What a tool most likely died of; null where it did not die. */
export function deathIn(evidence: Seen): Death | null {
  const gone = goneIn(evidence);
  if (!gone) return null;
  const firstBreak = gone.since.reduce((first, leg) => Math.min(first, endOf(leg)), Number.POSITIVE_INFINITY);
  const suspects = suspectsIn(evidence).filter(
    ({ message }) => message.request.seq <= firstBreak && isPossible(message, gone.alive),
  );
  const [worst] = suspects.toSorted(
    (one, other) => rankOf(one) - rankOf(other) || other.message.request.seq - one.message.request.seq,
  );
  const later = worst && gone.since.find(({ request }) => request.seq > endOf(worst.message));
  if (!worst || !later) return null;
  return { ...worst, later, others: suspects.filter(({ kind }) => kind === worst.kind).length - 1 };
}

/** Keys of the calls that the death of their tool cut off: they may have been right. The call that killed it is not one of them. */
export function cutShortBy({ message, later }: Death, { calls }: Seen): ReadonlySet<string> {
  const isSent = ({ broken }: Leg) => broken?.phase !== 'connect' && broken?.phase !== 'address';
  const isOver = ({ seq }: { readonly seq: number }) => seq < later.request.seq;
  return new Set(
    calls
      .filter(({ attempts }) => attempts.some(isSent) && !attempts.includes(message))
      .filter(
        ({ callbacks }) => !callbacks.some(callback => statusOf(callback) === 200 && isResult(callback)),
      )
      .filter(({ expiries }) => !expiries.some(isOver))
      .map(({ key }) => key),
  );
}

function suspectsIn({ calls, closes, cancels }: Seen): readonly Suspect[] {
  return [
    ...[...closes, ...cancels].map(message => ({ kind: 'notice', message }) as const),
    ...calls.flatMap(({ reading, attempts, callbacks }) => [
      ...attempts.map(message => ({ kind: reading.ok ? 'call' : 'malformed', message }) as const),
      ...callbacks
        .filter(callback => callback.broken !== null || (statusOf(callback) ?? 200) >= 400)
        .map(message => ({ kind: 'callback', message }) as const),
    ]),
  ];
}

/** A request that found nobody ended nothing, and neither did one after which others were still answered. */
function isPossible(message: Leg, alive: number): boolean {
  return (
    message.broken?.phase !== 'connect' && message.broken?.phase !== 'address' && endOf(message) >= alive
  );
}

function endOf({ request, response, broken }: Leg): number {
  return response?.seq ?? broken?.seq ?? request.seq;
}

/** A connection that was cut says most, then a message that no tool expects; an ordinary call was most likely only under way. */
function rankOf({ kind, message }: Suspect): number {
  if (kind === 'call') return 3;
  return breakOf(message) === 'cut' ? 0 : kind === 'callback' ? 2 : 1;
}
