import type { Event } from '../exchange/events.js';
import type { TranscriptHeader } from '../exchange/transcript-format.js';
import type { Side } from '../protocol/requirements.js';
import { gather } from './evidence/gather.js';
import { type CheckReport, checksOf, reportOf, type Selection } from './report.js';

export interface CheckOptions extends Selection {
  /** Whose requirements; those of both unless told. */
  readonly sides?: readonly Side[];
  /** Who saw the events: a transcript's header says it. A runtime unless told. */
  readonly observer?: TranscriptHeader['observer'];
  /** False where a part of what happened may be lost: then what is missing accuses nobody. True unless told. */
  readonly isWhole?: boolean;
}

/**
 * Judges what happened by the requirements of the protocol: one row for each, with the events that prove it. The same whether the
 * events are from a live run, a recording or a saved transcript.
 */
export async function checkTranscript(
  events: readonly Event[],
  { sides = ['tool', 'runtime'], observer = 'runtime', isWhole = true, ...selection }: CheckOptions = {},
): Promise<CheckReport> {
  const checks = await Promise.all(
    sides.map(async side => checksOf(side, [await gather(events, observer, side, isWhole)], selection)),
  );
  return reportOf(checks.flat());
}
