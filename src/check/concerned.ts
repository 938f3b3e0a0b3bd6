import { isRecord } from '../util/values.js';
import { type CallEvidence, isAbout } from './call.js';

/** A call that a finding is about, as the user can find it. */
export interface ConcernedCall {
  /** Null if its invocation has none. */
  readonly operation: string | null;
  readonly id: string | null;
  /** The line of its invocation in the file. */
  readonly line?: number;
}

/** The calls of a recording. */
interface RecordedCalls {
  readonly calls: readonly CallEvidence[];
  /** The line of each event in the file, by `seq`. */
  readonly lines?: ReadonlyMap<number, number>;
}

const MAX_CALLS = 10;

/** The first calls that these events belong to. */
export function concernedCalls(
  events: ReadonlySet<number>,
  recordings: readonly RecordedCalls[],
): readonly ConcernedCall[] {
  return recordings
    .flatMap(({ calls, lines }) => callsOf(events, calls).map(call => concernedCall(call, lines)))
    .filter(({ operation, id, line }) => operation !== null || id !== null || line !== undefined)
    .slice(0, MAX_CALLS);
}

/** The probes that made the calls that these events belong to. */
export function concernedProbes(
  events: ReadonlySet<number>,
  recordings: readonly RecordedCalls[],
): readonly string[] {
  const plans = recordings.flatMap(({ calls }) => callsOf(events, calls).flatMap(call => call.plans));
  return [...new Set(plans.flatMap(({ by, plan, again }) => (by === 'probe' && !again ? [plan] : [])))];
}

function callsOf(events: ReadonlySet<number>, calls: readonly CallEvidence[]): readonly CallEvidence[] {
  return calls.filter(call => isAbout(call, events));
}

/** Names are not cut: redaction cannot find a secret that was cut. */
export function concernedCall(
  { attempts: [attempt] }: Pick<CallEvidence, 'attempts'>,
  lines: RecordedCalls['lines'],
): ConcernedCall {
  const { operation, id } = isRecord(attempt?.sentJson) ? attempt.sentJson : {};
  const line = lines?.get(attempt?.request.seq ?? -1);
  const nameIn = (value: unknown) => (typeof value === 'string' ? value : null);
  return { operation: nameIn(operation), id: nameIn(id), ...(line !== undefined && { line }) };
}
