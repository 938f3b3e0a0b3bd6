import type { ToolResult } from '../../protocol/callbacks.js';
import type { CallEvidence } from '../call.js';
import type { CallbackEvidence } from '../callback-evidence.js';
import { type DriverEvidence, nameOfCall, type ObservationMessage } from '../driver-evidence.js';
import type { Evidence } from '../evidence.js';
import { messagesOf } from '../recorded-call.js';
import type { Observed } from '../rule.js';

/**
 * What a result is for the runtime, by its ids. `awaited`: the first for a pending call; `foreign`: for a pending call, but at the
 * callback URL of another one; `further`: the call has its result; `canceled`: the call was canceled before; `closed`: its thread was;
 * `unmatched`: no call.
 */
export type ResultStatus = 'awaited' | 'foreign' | 'further' | 'canceled' | 'closed' | 'unmatched';

/** A valid result that a tool sent. */
export interface SentResult {
  readonly callback: CallbackEvidence;
  readonly message: ToolResult;
  readonly status: ResultStatus;
  /** The call that its ids name; null for none. */
  readonly call: CallEvidence | null;
  /** The call at whose callback URL it came. */
  readonly sender: CallEvidence;
}

/** A text that the model got. */
export type Sighting = ObservationMessage<'model' | 'failure'>;

/** A result, and what the model may have got of it. */
export interface ResultWithSightings extends SentResult {
  /** What the model got for the call, or without an id. */
  readonly sightings: readonly Sighting[];
  /** All results. */
  readonly results: readonly SentResult[];
}

/** Judges the observations of each result; nothing without a driver. */
export function judgeEachResult(
  evidence: Evidence,
  judge: (result: ResultWithSightings, driver: DriverEvidence) => Observed,
): Observed {
  const { driver } = evidence;
  if (!driver) return null;
  const results = resultsIn(evidence);
  return results.map(result =>
    judge(
      { ...result, sightings: driver.possibleObservationsOf(result.call, 'model', 'failure'), results },
      driver,
    ),
  );
}

/** All results, oldest first; without those of a call that the runtime had given up. */
function resultsIn({ calls, driver }: Pick<Evidence, 'calls' | 'driver'>): readonly SentResult[] {
  const settled = new Set<CallEvidence>();
  const named = new Map(calls.map(call => [nameOfCall(call.invocation), call]));
  const sent = calls
    .flatMap(sender => messagesOf(sender, 'tool_result').map(result => ({ ...result, sender })))
    .toSorted((one, other) => one.callback.request.seq - other.callback.request.seq);
  const results: SentResult[] = [];
  for (const { callback, message, sender } of sent) {
    const isAccepted = (callback.status ?? 200) < 300;
    if (callback.isUnsent || (!isAccepted && !callback.hasJsonType)) continue;
    const { seq } = callback.request;
    const call = named.get(nameOfCall(message)) ?? null;
    const status = statusOf(call, sender, seq, settled);
    if (call && status !== 'canceled' && isGivenUp(call, driver, seq)) continue;
    if (status === 'awaited' && call && isAccepted) settled.add(call);
    results.push({ callback, message, status, call, sender });
  }
  return results;
}

/** @param settled the calls that have their result before the event `seq` */
function statusOf(
  call: CallEvidence | null,
  sender: CallEvidence,
  seq: number,
  settled: ReadonlySet<CallEvidence>,
): ResultStatus {
  if (!call) return 'unmatched';
  if (call.cancels.some(({ request }) => request.seq < seq)) return 'canceled';
  if (call.canceledAtSeq < seq) return 'closed';
  if (settled.has(call)) return 'further';
  return call === sender ? 'awaited' : 'foreign';
}

/** Whether the call had failed before: it was never accepted, or took too long. */
function isGivenUp(call: CallEvidence, driver: DriverEvidence | null, seq: number): boolean {
  if (call.isAcknowledgedWithBody) return false; // the result follows at once
  const failures = driver?.observationsOf(call, 'failure') ?? [];
  return !call.attempts.some(({ status }) => status === 200) || failures.some(({ event }) => event.seq < seq);
}

/** Whether the runtime had time to handle it: it may end before, or cancel. */
export function isHandled({ callback }: SentResult, driver: DriverEvidence): boolean {
  const { seq } = callback.end ?? callback.request;
  return seq <= driver.mayIgnoreFromSeq;
}
