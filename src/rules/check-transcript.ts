import type { Event } from '../exchange/events.js';
import type { TranscriptHeader } from '../exchange/transcript-format.js';
import type { Transcript } from '../exchange/transcript-reader.js';
import type { Side } from '../protocol/requirements.js';
import { seenFrom } from './evidence/seen-from.js';
import { recordingsOf } from './recording.js';
import { type CheckReport, checksOf, reportOf, type Selection } from './report.js';

export interface CheckOptions extends Selection {
  /** Whose requirements; those of both unless told. */
  readonly sides?: readonly Side[];
  /** Who saw bare events; a runtime unless told. Of a transcript its header says it. */
  readonly observer?: TranscriptHeader['observer'];
  /** Of bare events, false where a part of what happened may be lost: then what is missing accuses nobody. A transcript says it itself. */
  readonly isWhole?: boolean;
}

/**
 * Judges what happened by the requirements of the protocol: one row for each, with the events that prove it. The same whether it
 * is from a live run, a recording or a saved transcript, as `readTranscript` has it; several, as `readTranscripts` has them, are each
 * judged by themselves. What a transcript has lost accuses nobody.
 */
export async function checkTranscript(
  told: readonly Event[] | Transcript | readonly Transcript[],
  { sides = ['tool', 'runtime'], observer = 'runtime', isWhole = true, ...selection }: CheckOptions = {},
): Promise<CheckReport> {
  const recordings = isBare(told) ? [{ observer, events: told, isWhole }] : recordingsOf([told].flat());
  const checks = await Promise.all(
    sides.map(async side => checksOf(side, await Promise.all(recordings.map(seenFrom(side))), selection)),
  );
  return reportOf(checks.flat());
}

function isBare(told: readonly Event[] | Transcript | readonly Transcript[]): told is readonly Event[] {
  return Array.isArray(told) && told.every(each => 'kind' in each);
}
