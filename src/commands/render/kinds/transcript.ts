import { readTranscripts } from '../../../exchange/transcript-reader.js';
import { withoutReadyLines } from '../../../exchange/transcript-signs.js';
import type { Recognition } from './kind.js';
import { savedTranscript } from './saved-transcript.js';
import { savedSeveral } from './several.js';

/** With its article, for a person. */
export const TRANSCRIPT_NAME = 'a transcript (--save, -o ndjson)';

/** What `--save` and `-o ndjson` write. What could be read of a broken one is shown; of several that were joined, each by itself. */
export function recogniseTranscript(lines: Iterable<string>): Recognition {
  const transcripts = readTranscripts(withoutReadyLines(lines));
  const faults = transcripts.flatMap(each => each.faults);
  if (faults.length > 0 && transcripts.every(({ events }) => events.length === 0))
    return { ok: false, faults };
  const all = transcripts.map(savedTranscript);
  const [only] = all;
  return { ok: true, saved: only && all.length === 1 ? only : savedSeveral(all, [], 'transcript') };
}
