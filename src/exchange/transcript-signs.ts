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

/** Without what servers print before their events, as `mock-tool -o ndjson` does: first of all, or before a header. The lines keep their numbers. */
export function* withoutReadyLines(lines: Iterable<string>): Generator<string> {
  let isFirst = true;
  let ready: string | null = null;
  for (const line of lines) {
    if (ready !== null) yield line.startsWith(HEADER) ? '' : ready;
    ready = isReadyLine(line) ? (isFirst ? '' : line) : null;
    if (ready === null) yield line;
    isFirst = false;
  }
  if (ready !== null) yield ready;
}

function isReadyLine(line: string): boolean {
  const json = line.startsWith('{"port":') ? parseJson(line) : null;
  return json?.ok === true && isRecord(json.value) && !('kind' in json.value);
}
