import { ProtocolCliError } from '../../errors.js';
import { readTranscript } from '../../exchange/transcript-reader.js';
import { isTranscript, withoutReadyLine } from '../../exchange/transcript-signs.js';
import { byteLines } from '../../text/byte-lines.js';
import { readSource } from '../read-source.js';
import type { Terminal } from '../terminal.js';
import { redactorFor, type Witness } from './witness.js';

const LARGEST = 256 * 1024 * 1024;
/** Bytes that are enough to see what a file is. */
const HEAD = 256 * 1024;
/** Of what is wrong; whoever mends these finds the others. */
const MOST_FAULTS = 8;

/** A transcript that somebody saved, and what of it could not be read. */
export interface SavedWitness extends Witness {
  readonly faults: readonly string[];
}

/** @throws ProtocolCliError `unreadable-file` for what is no transcript. */
export async function readWitness(file: string, { stdin }: Pick<Terminal, 'stdin'>): Promise<SavedWitness> {
  const name = file === '-' ? 'standard input' : file;
  const bytes = await readSource(file, stdin, LARGEST);
  if (!isTranscript(new TextDecoder().decode(bytes.subarray(0, HEAD)))) throw noTranscript(name, bytes);
  const { header, events, faults } = readTranscript(withoutReadyLine(byteLines(bytes)));
  if (events.length === 0 && faults.length > 0) throw unreadable(name, faults);
  const redactor = redactorFor([]);
  for (const event of events) redactor.learn(event);
  return { target: name, observer: header?.observer ?? 'runtime', events, redactor, faults };
}

/** What else `render` shows says too little: rules need to know what was sent, and when. */
function noTranscript(name: string, bytes: Uint8Array): ProtocolCliError {
  const isEmpty = bytes.every(byte => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09);
  return new ProtocolCliError(
    'unreadable-file',
    `cannot check ${name}: ${isEmpty ? 'it is empty' : 'it is no transcript'}`,
    {
      hint: 'A transcript is written by --save, by -o ndjson and by record; a single message, or a report, can only be shown: protocol-cli render.',
    },
  );
}

function unreadable(name: string, faults: readonly string[]): ProtocolCliError {
  const more = faults.length - MOST_FAULTS;
  return new ProtocolCliError('unreadable-file', `no line of ${name} could be read`, {
    faults: more > 0 ? [...faults.slice(0, MOST_FAULTS), `and ${more} more`] : faults,
  });
}
