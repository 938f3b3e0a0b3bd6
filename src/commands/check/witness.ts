import type { Gap } from '../../check/conformance.js';
import { type Recording, recordingsOf } from '../../check/evidence.js';
import type { Event } from '../../events/events.js';
import type { EventRedactor } from '../../events/shareable.js';
import { missingFrom } from '../../events/transcript-reader.js';
import { credentialsIn, namedCredentialsIn } from '../../util/credentials.js';
import { ProtocolCliError } from '../../util/errors.js';
import { decodeUtf8 } from '../../util/json.js';
import { createRedactor, type Redactor } from '../../util/redact.js';
import { stringsIn } from '../../util/strings-in.js';
import { readSource } from '../read-source.js';
import { readRecording, wireSecrets } from '../save-files.js';
import type { Terminal } from '../terminal.js';

/** What there is to judge, from a live run or a file. */
export interface Witness {
  /** For the report: the URL or the file. */
  readonly target: string;
  /** The file for line numbers (default: the target). */
  readonly file?: string;
  readonly recordings: readonly Recording[];
  readonly gaps: readonly Gap[];
  readonly redactor: EventRedactor;
}

/**
 * Learns the secrets of a check from its events (threats, row 25): besides those of any recording, everything a tool sends that looks
 * like a credential (TOOL-SECRET, TOOL-OAUTH), unless the call itself has sent it.
 */
export function checkedSecrets(credentials: Redactor): EventRedactor {
  const secrets = wireSecrets(credentials);
  const sent = new Map<string | undefined, readonly string[]>();
  return {
    ...secrets,
    learn(event) {
      secrets.learn(event);
      const key = event.calls?.[0];
      const found = textsIn(event).flatMap(credentialsOf);
      if (event.kind === 'request' && event.purpose === 'invocation') sent.set(key, found);
      else for (const secret of found) if (!sent.get(key)?.includes(secret)) secrets.add(secret);
    },
  };
}

function credentialsOf(text: string): readonly string[] {
  const known = credentialsIn(text).map(found => found.text.replace(/^Bearer /, ''));
  return [...known, ...namedCredentialsIn(text)];
}

function textsIn(event: Event): readonly string[] {
  const body = 'body' in event ? event.body : undefined;
  if (!body) return [];
  return body.json.ok ? stringsIn(body.json.value) : [decodeUtf8(body.bytes) ?? ''];
}

const LARGEST = 256 * 1024 * 1024;
/** Errors that are shown; the rest follow when these are fixed. */
const MOST_FAULTS = 8;
const MOST_GAPS = 50;

/** A saved transcript; what of it is missing is a gap. @throws ProtocolCliError `unreadable-file`. */
export async function readWitness(file: string, { stdin }: Pick<Terminal, 'stdin'>): Promise<Witness> {
  const name = file === '-' ? 'standard input' : file;
  const bytes = await readSource(file, stdin, LARGEST);
  const transcript = readRecording(name, bytes);
  if (!transcript) throw noTranscript(name, bytes);
  const { events, faults } = transcript;
  if (events.length === 0 && faults.length > 0)
    throw new ProtocolCliError('unreadable-file', `no line of ${name} could be read`, {
      faults: firstOf(faults, MOST_FAULTS),
    });
  const redactor = checkedSecrets(createRedactor());
  for (const event of events) redactor.learn(event);
  // One gap is enough to keep a run from being green.
  const missing = firstOf([...faults, ...missingFrom(transcript)], MOST_GAPS);
  return {
    target: name,
    recordings: events.length === 0 ? [] : recordingsOf([transcript]),
    gaps: missing.map(fault => gapOf(name, fault)),
    redactor,
  };
}

function firstOf(faults: readonly string[], most: number): readonly string[] {
  const more = faults.length - most;
  return more > 0 ? [...faults.slice(0, most), `and ${more} more`] : faults;
}

/** `line 7: not valid JSON` of a file. */
function gapOf(name: string, fault: string): Gap {
  const [, line, reason = fault] = /^line (\d+): (.*)$/s.exec(fault) ?? [];
  return { place: line === undefined ? name : `${name}:${line}`, reason };
}

/** Rules need to know what was sent, and when: other things that `render` shows are not enough. */
function noTranscript(name: string, bytes: Uint8Array): ProtocolCliError {
  const isEmpty = bytes.every(byte => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09);
  return new ProtocolCliError(
    'unreadable-file',
    `cannot check ${name}: ${isEmpty ? 'it is empty' : 'it is not a transcript'}`,
    {
      hint: 'A transcript is written by --save, by -o ndjson and by record; a single message, or a report, can only be shown: protocol-cli render.',
    },
  );
}
