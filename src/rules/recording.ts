import type { Event } from '../exchange/events.js';
import { renumbered } from '../exchange/renumbered.js';
import type { TranscriptHeader } from '../exchange/transcript-format.js';
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
    isWhole: missingIn(transcript).length === 0,
  }));
}

/** What of a transcript is not there: in it, before it and after it. @param which one of several it is */
export function missingIn({ header, end, faults, lost }: Transcript, which = ''): readonly string[] {
  return [
    ...(header === null ? [which + NO_HEADER] : []),
    ...faults,
    ...lost,
    ...(end === null ? [which + NO_END] : []),
  ];
}

const NO_HEADER = 'its header is missing, and perhaps what came first';
const NO_END =
  'it stops without an end line: whoever wrote it still ran, was killed, or the last lines were cut off';
