import * as z from 'zod/mini';
import { validate } from '../protocol/validate.js';
import { groupBy } from '../util/collections.js';
import { ProtocolCliError } from '../util/errors.js';
import { parseJson } from '../util/json.js';
import { byteLines } from '../util/text.js';
import { isRecord } from '../util/values.js';
import { Content } from './content.js';
import { factSchema } from './event-schema.js';
import type { Body, Event } from './events.js';
import { type RoundTrip, roundTripsIn } from './round-trips.js';

/** The format's name and version. Readers reject other formats. */
const TRANSCRIPT_FORMAT = 'protocol-cli-transcript/1';

/** Refers to the bytes in a `body` line. */
const bodyRefSchema = z.object({ sha256: z.string(), size: z.int().check(z.nonnegative()) });

export type BodyRef = z.infer<typeof bodyRefSchema>;

const frames = [
  z.object({
    kind: z.literal('header'),
    format: z.literal(TRANSCRIPT_FORMAT),
    /** RFC 3339, UTC. */
    startedAt: z.string(),
    observer: z.enum(['runtime', 'tool', 'recorder', 'platform', 'client']),
    program: z.string(),
    redaction: z.string(),
  }),
  /** Bytes, once, before the first event that refers to them. `sha256` is the digest of `data`. */
  z.object({
    kind: z.literal('body'),
    sha256: z.string(),
    encoding: z.enum(['utf8', 'base64']),
    data: z.string(),
  }),
  /** `seq` follows that of the last event, so that a reader notices when the last events are missing. */
  z.object({ kind: z.literal('end'), seq: z.optional(z.int().check(z.nonnegative())), reason: z.string() }),
] as const;

/** One line of a transcript (NDJSON): a frame or an event. */
export const transcriptLineSchema = z.discriminatedUnion('kind', [...frames, factSchema(bodyRefSchema)]);

export type TranscriptLine = z.infer<typeof transcriptLineSchema>;

/** Who recorded the events: a side of a call, a recorder between them, or a side of an agent session. */
export type Observer = 'runtime' | 'tool' | 'recorder' | 'platform' | 'client';

/** The first line of a transcript. */
export interface TranscriptHeader {
  readonly kind: 'header';
  readonly format: 'protocol-cli-transcript/1';
  /** RFC 3339, UTC. */
  readonly startedAt: string;
  readonly observer: Observer;
  /** Name and version of the program that wrote it: `protocol-cli/0.1.0`. */
  readonly program: string;
  /** What was redacted. */
  readonly redaction: string;
}

/** A parsed transcript. */
export interface Transcript {
  readonly header: TranscriptHeader | null;
  readonly events: readonly Event[];
  /** The line number of each event, from 1; missing if it was not read from a file. */
  readonly lines?: readonly number[];
  /** Why it ended; null if the file stops without an end line. */
  readonly end: string | null;
  /** What could not be read, with line numbers. */
  readonly faults: readonly string[];
  /** Missing events, each gap with the number of the line after it. */
  readonly lost: readonly string[];
}

/**
 * Reads the lines of a transcript back into events. Never throws: what could not be read is in `faults`, and further recordings in the file
 * are reported there too.
 * @param lines JSON texts, one an event; see `protocol-cli/transcript.schema.json`
 * @example
 * const text = await readFile('run.ndjson', 'utf8');
 * const { events, faults } = readTranscript(text.split('\n'));
 */
export function readTranscript(lines: Iterable<string>): Transcript {
  const [first = new Recording(1), ...others] = readRecordings(lines);
  const transcript = first.transcript();
  const ignored = others.map(({ line }) => `line ${line}: a second transcript starts here and was ignored`);
  return { ...transcript, faults: [...transcript.faults, ...ignored] };
}

/**
 * Reads transcripts that `cat` joined in one file. Never throws.
 * @example
 * const transcripts = readTranscripts((await readFile('runs.ndjson', 'utf8')).split('\n'));
 */
export function readTranscripts(lines: Iterable<string>): readonly Transcript[] {
  return readRecordings(lines).map(recording => recording.transcript());
}

function readRecordings(lines: Iterable<string>): readonly Recording[] {
  const bodies = new Map<string, Body>();
  let recording = new Recording(1);
  const recordings = [recording];
  let number = 0;
  for (const source of lines) {
    number++;
    if (source.trim() === '') continue;
    const line = readLine(source);
    if (!('fault' in line) && recording.isFollowedBy(line)) {
      recording = new Recording(number);
      recordings.push(recording);
    }
    recording.add(line, number, bodies);
  }
  return recordings;
}

type EventLine = Exclude<TranscriptLine, { kind: 'header' | 'body' | 'end' }>;

interface Unreadable {
  readonly fault: string;
}

interface LineFault {
  readonly line: number;
  readonly reason: string;
}

/** One recording; notices missing events by the gaps in the sequence numbers, which begin at 0. */
class Recording {
  #header: TranscriptHeader | null = null;
  #end: string | null = null;
  readonly #events: Event[] = [];
  readonly #lines: number[] = [];
  readonly #faults: LineFault[] = [];
  readonly #lost: LineFault[] = [];
  #nextSeq = 0;
  #latestSeq: number | null = null;
  /** Unreadable lines since the latest event: reported, so not counted as missing events. */
  #unreadable = 0;

  /** @param line the number of its first line */
  constructor(readonly line: number) {}

  transcript(): Transcript {
    return {
      header: this.#header,
      events: this.#events,
      lines: this.#lines,
      end: this.#end,
      faults: faultTexts(this.#faults),
      lost: faultTexts(this.#lost),
    };
  }

  /** Whether a line begins another recording: by its header, or if that is missing, by the sequence numbers. */
  isFollowedBy(line: TranscriptLine): boolean {
    if (line.kind === 'header') return this.#header !== null || this.#events.length > 0;
    return line.kind !== 'body' && line.kind !== 'end' && line.seq < this.#nextSeq - 1;
  }

  add(line: TranscriptLine | Unreadable, number: number, bodies: Map<string, Body>): void {
    if ('fault' in line) {
      this.#unreadable++;
      this.#addFault(line.fault, number);
      return;
    }
    switch (line.kind) {
      case 'header':
        this.#header = line;
        return;
      case 'body': {
        const body = new Content(Buffer.from(line.data, line.encoding));
        bodies.set(line.sha256, body);
        if (body.sha256 !== line.sha256) this.#addFault('the body does not match its sha256', number); // it was edited
        return;
      }
      case 'end':
        if (this.#end !== null) this.#addFault('duplicate end line', number);
        else if (line.seq !== undefined) this.#addLost(this.#lostBeforeEnd(line.seq), number);
        this.#end ??= line.reason;
        return;
      default:
        this.#addEvent(line, number, bodies);
    }
  }

  #addEvent(line: EventLine, number: number, bodies: ReadonlyMap<string, Body>): void {
    // A `dropped` event of the recorder has no number of its own.
    if (line.seq === this.#latestSeq && line.kind !== 'dropped') {
      this.#addFault(`duplicate event ${line.seq}`, number);
      return;
    }
    if (this.#end !== null) this.#addFault('event after the end line', number);
    const ref = 'body' in line ? line.body : undefined;
    const body = ref && bodies.get(ref.sha256);
    if (ref && !body) this.#addFault('refers to a body that is not in the lines before', number);
    this.#events.push((ref ? { ...line, body } : line) as Event);
    this.#lines.push(number);
    this.#addLost(this.#lostBefore(line), number);
  }

  #addFault(reason: string, line: number): void {
    this.#faults.push({ line, reason });
  }

  #addLost(reason: string | null, line: number): void {
    if (reason !== null) this.#lost.push({ line, reason });
  }

  #lostBefore(event: EventLine): string | null {
    const missing = this.#gapBefore(event.seq);
    const wasDropped = event.kind === 'dropped' && event.what === 'event' && event.calls === undefined;
    this.#nextSeq = event.seq + 1;
    this.#latestSeq = wasDropped ? null : event.seq;
    this.#unreadable = 0;
    return wasDropped ? `${eventsAre(event.count)} not written: ${event.why}` : missing;
  }

  #lostBeforeEnd(seq: number): string | null {
    if (seq >= this.#nextSeq) return this.#gapBefore(seq);
    return 'the sequence number of the end line does not match the events before it';
  }

  #gapBefore(seq: number): string | null {
    const missing = seq - this.#nextSeq - this.#unreadable;
    return missing > 0 ? `${eventsAre(missing)} missing before it` : null;
  }
}

function eventsAre(count: number): string {
  return count === 1 ? '1 event is' : `${count} events are`;
}

function readLine(source: string): TranscriptLine | Unreadable {
  const json = parseJson(source);
  if (!json.ok) return { fault: json.reason };
  const line = validate(transcriptLineSchema, json.value);
  return line.ok ? line.value : { fault: line.faults.join('; ') };
}

/** Maximum number of lines with the same error that are listed separately. */
const MAX_SEPARATE = 3;

function faultTexts(faults: readonly LineFault[]): string[] {
  return [...groupBy(faults, ({ reason }) => [reason])]
    .flatMap(([reason, same]) => {
      const [first, ...others] = same;
      if (!first || others.length < MAX_SEPARATE)
        return same.map(({ line }) => ({ line, text: `line ${line}: ${reason}` }));
      const more = `as ${others.length} more do until line ${others.at(-1)?.line}`;
      return { line: first.line, text: `line ${first.line}: ${reason}, ${more}` };
    })
    .sort((one, other) => one.line - other.line)
    .map(({ text }) => text);
}

const NO_HEADER =
  'the header is missing, or cannot be read; without one, the first events may be missing too';

const NO_END =
  'no end line: the recording program is still running, was killed, or the last lines were cut off';

/** What is missing before, in and after a transcript, apart from faults. */
export function missingFrom({ header, events, end, lost }: Transcript): readonly string[] {
  const before = header === null ? [NO_HEADER] : [];
  return [...before, ...lost, ...unforwarded(events), ...(end === null ? [NO_END] : [])];
}

/** Calls that came to the recorder, and neither went on to the tool nor got an answer. */
function unforwarded(events: readonly Event[]): readonly string[] {
  const trips = [...roundTripsIn(events).values()].filter(({ request }) => request.purpose === 'invocation');
  const received = trips.filter(({ request }) => request.hop === 'runtime-side');
  const callOf = ({ request }: RoundTrip) => request.calls?.[0] ?? '';
  const forwarded = new Set(trips.filter(({ request }) => request.hop !== 'runtime-side').map(callOf));
  return received
    .filter(trip => trip.end === null && !forwarded.has(callOf(trip)))
    .map(trip => `call ${callOf(trip)} came to the recorder; the recording ends before it was forwarded`);
}

/** Whether the transcript is complete. Only then does a missing event prove that it did not happen. */
export function isWhole(transcript: Transcript): boolean {
  return transcript.faults.length === 0 && missingFrom(transcript).length === 0;
}

const HEADER = '{"kind":"header"';

/** Lines to inspect, since the first may be damaged, and maximum number of characters before their `kind`. */
const INSPECTED = { lines: 20, characters: 1_000 };

/** Whether a file begins like a transcript, even if its first lines are damaged. */
export function isTranscript(head: string): boolean {
  const isLine = (line: string) =>
    line.slice(0, INSPECTED.characters).includes('"kind"') && !('fault' in readLine(line));
  return head.startsWith(HEADER) || head.split('\n', INSPECTED.lines).some(isLine);
}

/** Blanks the ready line of a server, as in `mock-tool -o ndjson`. Line numbers stay the same. */
export function* withoutReadyLine(lines: Iterable<string>): Generator<string> {
  let isFirst = true;
  for (const line of lines) {
    const json = isFirst && line.startsWith('{"port":') ? parseJson(line) : null;
    yield json?.ok && isRecord(json.value) && !('kind' in json.value) ? '' : line;
    isFirst = false;
  }
}

/** Bytes to read to detect a transcript. */
const HEAD = 256 * 1024;

/**
 * Parses a recording; null if the file is not a recording.
 * @throws ProtocolCliError `unreadable-file` for several recordings, as `cat` joins them.
 */
export function readRecording(name: string, bytes: Uint8Array): Transcript | null {
  if (!isTranscript(new TextDecoder().decode(bytes.subarray(0, HEAD)))) return null;
  const [transcript, ...others] = readTranscripts(withoutReadyLine(byteLines(bytes)));
  if (others.length === 0) return transcript ?? null;
  throw new ProtocolCliError('unreadable-file', `${name} holds ${others.length + 1} recordings`, {
    hint: 'Give each recording its own file. A recording begins with a line {"kind":"header",…}.',
  });
}
