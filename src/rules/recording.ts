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
  /** Of what was read from lines, the number of each event's, by its `seq`. */
  readonly lines?: ReadonlyMap<number, number>;
}

/** What there is to judge in transcripts: each by itself, its events under other numbers than those of the others. */
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
