import { ProtocolCliError } from '../../errors.js';
import { missingFrom } from '../../exchange/transcript-losses.js';
import { readTranscripts, type Transcript } from '../../exchange/transcript-reader.js';
import { isTranscript, withoutReadyLines } from '../../exchange/transcript-signs.js';
import type { Gap } from '../../rules/conformance.js';
import { recordingsOf } from '../../rules/recording.js';
import { byteLines } from '../../text/byte-lines.js';
import { createRedactor } from '../../text/redact.js';
import { readSource } from '../read-source.js';
import type { Terminal } from '../terminal.js';
import { checkedSecrets } from './secrets.js';
import type { Witness } from './witness.js';

const LARGEST = 256 * 1024 * 1024;
/** Bytes that are enough to see what a file is. */
const HEAD = 256 * 1024;
/** Of what is wrong; whoever mends these finds the others. */
const MOST_FAULTS = 8;
const MOST_GAPS = 50;

/**
 * What somebody saved: of transcripts that were joined, each is a recording of its own; what of them was lost is a gap.
 * @throws ProtocolCliError `unreadable-file` for what is no transcript.
 */
export async function readWitness(file: string, { stdin }: Pick<Terminal, 'stdin'>): Promise<Witness> {
  const name = file === '-' ? 'standard input' : file;
  const bytes = await readSource(file, stdin, LARGEST);
  if (!isTranscript(new TextDecoder().decode(bytes.subarray(0, HEAD)))) throw noTranscript(name, bytes);
  const transcripts = readTranscripts(withoutReadyLines(byteLines(bytes)));
  const faults = transcripts.flatMap(each => each.faults);
  const saved = transcripts.filter(({ events }) => events.length > 0);
  if (saved.length === 0 && faults.length > 0) throw unreadable(name, faults);
  const recordings = recordingsOf(saved);
  const redactor = checkedSecrets(createRedactor());
  for (const { events } of recordings) for (const event of events) redactor.learn(event);
  const gaps = gapsIn(name, allMissing(transcripts));
  return { target: name, recordings, gaps, redactor };
}

/** What of each is not there, named where there are several. */
function allMissing(transcripts: readonly Transcript[]): readonly string[] {
  const { length } = transcripts;
  return transcripts.flatMap((each, index) => [
    ...each.faults,
    ...missingFrom(each, length === 1 ? '' : `transcript ${index + 1} of ${length}: `),
  ]);
}

/** Of many the first: one is enough to keep a run from being green. */
function gapsIn(name: string, faults: readonly string[]): readonly Gap[] {
  const told = faults.slice(0, MOST_GAPS).map(fault => gapIn(name, fault));
  const more = faults.length - told.length;
  return more > 0 ? [...told, { place: name, reason: `and ${more} more` }] : told;
}

/** `line 7: not valid JSON` of a file. */
function gapIn(name: string, fault: string): Gap {
  const [, line, reason = fault] = /^line (\d+): (.*)$/s.exec(fault) ?? [];
  return { place: line === undefined ? name : `${name}:${line}`, reason };
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
