import { validate } from '../protocol/validate.js';
import { isRecord } from '../text/is-record.js';
import { parseJson } from '../text/json.js';
import { transcriptLineSchema } from './transcript-format.js';

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

/** Without what a server prints before its events, as `mock-tool -o ndjson` does; the lines keep their numbers. */
export function* withoutReadyLine(lines: Iterable<string>): Generator<string> {
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
