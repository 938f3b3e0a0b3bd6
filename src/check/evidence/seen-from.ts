import { renumbered } from '../../events/call-log.js';
import { type Event, type Hop, seenOn } from '../../events/events.js';
import type { TranscriptHeader } from '../../events/log.js';
import { isWhole, type Transcript } from '../../events/transcript-reader.js';
import type { Side } from '../../protocol/requirements.js';
import {
  type Culprit,
  callbackOf,
  callsOf,
  type Death,
  discoveriesOf,
  type Evidence,
  isProbe,
  type Leg,
  legsOf,
  notCalled,
  statusOf,
  unprobed,
} from '../evidence.js';
import { breakOf, goneIn, isResult } from '../evidence-queries.js';

/** One recording and who made it. */
export interface Recording {
  readonly observer: TranscriptHeader['observer'];
  readonly events: readonly Event[];
  /** Whether nothing of it was lost. */
  readonly isWhole: boolean;
  /** Of what was read from lines, the number of each event's, by its `seq`. */
  readonly lines?: ReadonlyMap<number, number>;
}

/** One recording per transcript, with event numbers that are unique across all of them. */
export function recordingsOf(transcripts: readonly Transcript[]): readonly Recording[] {
  const all = renumbered(transcripts.map(({ events }) => events));
  return transcripts.map((transcript, index) => {
    const events = all[index] ?? [];
    const lines = transcript.lines && linesOf(events, transcript.lines);
    const observer = transcript.header?.observer ?? 'runtime';
    return { observer, events, isWhole: isWhole(transcript), ...(lines && { lines }) };
  });
}

function linesOf(events: readonly Event[], numbers: readonly number[]): ReadonlyMap<number, number> {
  return new Map(
    events.flatMap(({ seq }, place) => {
      const line = numbers[place];
      return line === undefined ? [] : [[seq, line] as const];
    }),
  );
}

interface Suspect {
  readonly kind: Culprit;
  readonly message: Leg;
}

type Seen = Pick<Evidence, 'calls' | 'discoveries' | 'closes' | 'cancels' | 'migrations'>;

/** What a tool most likely died of; null where it did not die. */
function deathIn(evidence: Seen): Death | null {
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
function cutShortBy({ message, later }: Death, { calls }: Seen): ReadonlySet<string> {
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

/** A request that could not connect did not crash the tool; neither did one before the last answer. */
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

const HOPS: Readonly<Record<Side, Hop>> = { tool: 'tool-side', runtime: 'runtime-side' };

/** Puts events together as evidence for the requirements of one side: of a recording, what was seen on that side. */
export async function gather(
  events: readonly Event[],
  observer: TranscriptHeader['observer'],
  side: Side,
  isWhole = true,
): Promise<Evidence> {
  const known = seenOn(HOPS[side], events).filter(isRap);
  const seen = side === 'runtime' ? unprobed(known) : known;
  const legs = legsOf(seen);
  const discoveries = await discoveriesOf(legs);
  const calls = await callsOf(seen, legs, discoveries);
  const purposed = (purpose: Leg['request']['purpose']) =>
    legs.filter(({ request }) => request.purpose === purpose);
  const asked = {
    calls,
    discoveries,
    closes: purposed('close'),
    cancels: purposed('cancel'),
    migrations: purposed('migrate'),
  };
  const death = deathIn(asked);
  const cutShort = death ? cutShortBy(death, asked) : new Set();
  return {
    ...asked,
    observer,
    isWhole,
    isProbed: known.some(isProbe),
    calls: calls.map(call => (cutShort.has(call.key) ? { ...call, isCutShort: true } : call)),
    death,
    strays: purposed('callback')
      .filter(({ request: { calls: keys = [] } }) => keys.length === 0)
      .map(leg => callbackOf(leg, null)),
    plans: seen.filter(event => event.kind === 'planned'),
    notCalled: notCalled(known),
    until: seen.at(-1)?.at ?? 0,
  };
}

/** Another wire has requirements of its own. */
function isRap(event: Event): boolean {
  return !('dialect' in event && event.dialect !== undefined);
}

/** What a recording has for the requirements of one side. */
export function seenFrom(side: Side): (recording: Recording) => Promise<Evidence> {
  return async ({ events, observer, isWhole, lines }) => ({
    ...(await gather(events, observer, side, isWhole)),
    ...(lines && { lines }),
  });
}
