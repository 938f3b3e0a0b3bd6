import { transcriptLineSchema } from '../../../exchange/transcript-format.js';
import { readTranscript } from '../../../exchange/transcript-reader.js';
import { validate } from '../../../protocol/validate.js';
import { isRecord } from '../../../text/is-record.js';
import { parseJson } from '../../../text/json.js';
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

/** What a server prints before its events, as `mock-tool -o ndjson` does; the lines keep their numbers. */
function* withoutReadyLine(lines: Iterable<string>): Generator<string> {
  let isFirst = true;
  for (const line of lines) {
    yield isFirst && isReadyLine(line) ? '' : line;
    isFirst = false;
  }
}

function isReadyLine(line: string): boolean {
  const json = line.startsWith('{"port":') ? parseJson(line) : null;
  return json?.ok === true && isRecord(json.value) && !('kind' in json.value);
}

/** Lines looked at: where the first is torn, the next one may tell. */
const LOOKED_AT = 20;
/** Of our own lines the kind stands at the front. */
const FRONT = 1_000;

/** Whether the beginning of a file is that of a transcript, its first lines sound or not. */
export function isTranscript(head: string): boolean {
  const lines = head.split('\n', LOOKED_AT);
  return head.startsWith(HEADER) || lines.some(isTranscriptLine);
}

const HEADER = '{"kind":"header"';

function isTranscriptLine(line: string): boolean {
  if (!line.slice(0, FRONT).includes('"kind"')) return false;
  const json = parseJson(line);
  return json.ok && validate(transcriptLineSchema, json.value).ok;
}
