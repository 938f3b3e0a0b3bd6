import type { Event } from '../exchange/events.js';
import { renumbered } from '../exchange/renumbered.js';
import type { TranscriptHeader } from '../exchange/transcript-format.js';
import { isWhole } from '../exchange/transcript-losses.js';
import type { Transcript } from '../exchange/transcript-reader.js';

/** What somebody saw from its beginning to its end. */
export interface Recording {
  readonly observer: TranscriptHeader['observer'];
  readonly events: readonly Event[];
  /** Whether nothing of it was lost. */
  readonly isWhole: boolean;
}

/** What there is to judge in transcripts: each by itself, its events under other numbers than those of the others. */
export function recordingsOf(transcripts: readonly Transcript[]): readonly Recording[] {
  const all = renumbered(transcripts.map(({ events }) => events));
  return transcripts.map((transcript, index) => ({
    observer: transcript.header?.observer ?? 'runtime',
    events: all[index] ?? [],
    isWhole: isWhole(transcript),
  }));
}
