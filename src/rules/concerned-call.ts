import { isRecord } from '../text/is-record.js';
import type { CallEvidence, Evidence } from './evidence/evidence.js';

/** A call that a finding is about, as a person finds it again. */
export interface ConcernedCall {
  /** Null where its invocation has none. */
  readonly operation: string | null;
  readonly id: string | null;
  /** Of the file, the line of its invocation; none of what was not read from lines. */
  readonly line?: number;
}

/** More calls are in the transcript. */
const MOST_CALLS = 10;

/** The calls that events, named by their `seq`, are of, in the order of these; none for what concerns no call. */
export function concernedBy(
  seqs: readonly number[],
  evidences: readonly Pick<Evidence, 'calls' | 'lines'>[],
): readonly ConcernedCall[] {
  const places = new Map(seqs.map((seq, place) => [seq, place]));
  const found = evidences.flatMap(({ calls, lines }) =>
    calls.flatMap(call => {
      const place = placeOf(call, places);
      return place === null ? [] : [{ place, call, lines }];
    }),
  );
  return found
    .toSorted((one, other) => one.place - other.place)
    .slice(0, MOST_CALLS)
    .map(({ call, lines }) => known(call, lines))
    .filter(({ operation, id, line }) => operation !== null || id !== null || line !== undefined);
}

/** Of its events among those that are named, the place of the first. */
function placeOf(
  { attempts, callbacks, selections, cancels }: CallEvidence,
  places: ReadonlyMap<number, number>,
): number | null {
  const legs = [attempts, callbacks, selections, cancels].flat();
  const own = legs.flatMap(({ request }) => places.get(request.seq) ?? []);
  return own.reduce<number | null>((first, place) => Math.min(first ?? place, place), null);
}

function known({ attempts: [attempt] }: CallEvidence, lines: Evidence['lines']): ConcernedCall {
  const body = attempt?.request.body;
  const sent = body?.json.ok && isRecord(body.json.value) ? body.json.value : {};
  const line = lines?.get(attempt?.request.seq ?? -1);
  const { operation, id } = sent;
  return { operation: nameIn(operation), id: nameIn(id), ...(line !== undefined && { line }) };
}

/** Also of an invocation that is none; whole, since a secret that is cut is not found any more. */
function nameIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
