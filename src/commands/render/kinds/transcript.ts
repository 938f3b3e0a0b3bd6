import { readTranscript } from '../../../exchange/transcript-reader.js';
import { withoutReadyLine } from '../../../exchange/transcript-signs.js';
import type { Recognition } from './kind.js';
import { savedTranscript } from './saved-transcript.js';

/** With its article, for a person. */
export const TRANSCRIPT_NAME = 'a transcript (--save, -o ndjson)';

/** What `--save` and `-o ndjson` write. What could be read of a broken one is shown. */
export function recogniseTranscript(lines: Iterable<string>): Recognition {
  const transcript = readTranscript(withoutReadyLine(lines));
  const { events, faults } = transcript;
  if (events.length === 0 && faults.length > 0) return { ok: false, faults };
  return { ok: true, saved: savedTranscript(transcript) };
}
