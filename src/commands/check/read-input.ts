import type { Conformance } from '../../check/conformance.js';
import { type Recording, recordingsOf } from '../../check/evidence.js';
import type { EventRedactor } from '../../events/shareable.js';
import { missingFrom, readRecording } from '../../events/transcript-reader.js';
import type { Warning } from '../../protocol/requirements.js';
import { ProtocolCliError } from '../../util/errors.js';
import { LIMITS } from '../../util/limits.js';
import { createRedactor } from '../../util/redact.js';
import { decodeUtf8, firstWithRest } from '../../util/text.js';
import { readSource } from '../read-source.js';
import type { Terminal } from '../terminal.js';
import { checkedSecrets } from './secrets.js';

/** What is judged: recorded calls or a file. */
export interface CheckInput {
  /** The URL or the file, for the report. */
  readonly target: string;
  /** The file for line numbers (default: the target). */
  readonly file?: string;
  readonly recordings: readonly Recording[];
  /** Warnings that are in no recording. */
  readonly warnings?: readonly Warning[];
  readonly gaps: Conformance['gaps'];
  readonly redactor: EventRedactor;
}

/** Numbers of errors of a transcript that are shown, and of gaps in a report. */
const SHOWN = { faults: 8, gaps: 50 };

/** Reads a saved transcript; missing parts become gaps. @throws ProtocolCliError `unreadable-file`. */
export async function readInput(file: string, { stdin }: Pick<Terminal, 'stdin'>): Promise<CheckInput> {
  const name = file === '-' ? 'standard input' : file;
  const bytes = await readSource(file, stdin, LIMITS.checkedBytes.value);
  const transcript = readRecording(name, bytes);
  if (!transcript) {
    const text = decodeUtf8(bytes);
    if (text === null)
      throw new ProtocolCliError('unreadable-file', `cannot check ${name}: it is not valid UTF-8`, {
        hint: 'Is it compressed, or a picture?',
      });
    const why = text.trim() === '' ? 'it is empty' : 'it is not a transcript';
    throw new ProtocolCliError('unreadable-file', `cannot check ${name}: ${why}`, {
      hint: 'A transcript is written by --save, by -o ndjson and by record; a single message, or a report, can only be shown: protocol-cli render.',
    });
  }
  const { events, faults } = transcript;
  if (events.length === 0 && faults.length > 0)
    throw new ProtocolCliError('unreadable-file', `no line of ${name} could be read`, {
      faults: firstWithRest(faults, SHOWN.faults),
    });
  const redactor = checkedSecrets(createRedactor());
  for (const event of events) redactor.learn(event);
  const missing = firstWithRest([...faults, ...missingFrom(transcript)], SHOWN.gaps);
  const recordings = events.length === 0 ? [] : recordingsOf([transcript]);
  return { target: name, recordings, gaps: missing.map(fault => gapOf(name, fault)), redactor };
}

/** Converts an error such as `line 7: not valid JSON` to a gap. */
function gapOf(name: string, fault: string) {
  const [, line, reason = fault] = /^line (\d+): (.*)$/s.exec(fault) ?? [];
  return { place: line === undefined ? name : `${name}:${line}`, reason };
}
