import * as z from 'zod/mini';
import { validate } from '../protocol/validate.js';
import { parseJson } from '../util/json.js';
import { isRecord } from '../util/json-diagnosis.js';
import { Content } from './content.js';
import { type Event, factSchema } from './events.js';
import { type TranscriptHeader, transcriptLineSchema } from './log.js';

/** A fault of a file, and the line that has it. */
interface LineFault {
  readonly line: number;
  readonly reason: string;
}

/** Up to this many lines with the same error are listed separately. */
const ONE_BY_ONE = 3;

/** Error messages in order; an error on many lines is reported once. */
function faultWords(faults: readonly LineFault[]): string[] {
  const linesOf = new Map<string, number[]>();
  for (const { line, reason } of faults) {
    const known = linesOf.get(reason);
    if (known) known.push(line);
    else linesOf.set(reason, [line]);
  }
  return faults.flatMap(({ line, reason }) => {
    const [first, ...others] = linesOf.get(reason) ?? [];
    if (others.length < ONE_BY_ONE) return [`line ${line}: ${reason}`];
    return line === first
      ? [`line ${line}: ${reason}, as ${others.length} more do until line ${others.at(-1)}`]
      : [];
  });
}

type Numbered = Pick<Event, 'seq'>;

/** Notices, from the events that a transcript has in their order, which ones it does not have: the first one's number is 0. */
class Gaps {
  #next = 0;
  #latest: number | null = null;
  #unread = 0;

  /** Whether an event begins anew: the numbers of one recording only ever grow. */
  isRestartedBy({ seq }: Numbered): boolean {
    return seq < this.#next - 1;
  }

  /** Whether an event repeats the sequence number before it; a `dropped` event has no number of its own. */
  isRepeatedBy({ seq, kind }: Pick<Event, 'seq' | 'kind'>): boolean {
    return seq === this.#latest && kind !== 'dropped';
  }

  /** An unreadable line is reported already and is not counted as a missing event. */
  unreadable(): void {
    this.#unread++;
  }

  /** What is missing right before an event; null where nothing is. */
  before(event: Event): string | null {
    const missing = this.#missingBefore(event);
    this.#next = event.seq + 1;
    this.#latest = isUnwritten(event) ? null : event.seq;
    this.#unread = 0;
    return isUnwritten(event) ? `${counted(event.count)} not written: ${event.why}` : missing;
  }

  /** What is missing right before the end line, which is numbered as if it were an event. */
  beforeEnd(end: Numbered): string | null {
    if (end.seq < this.#next)
      return 'the sequence number of the end line does not match the events before it';
    return this.#missingBefore(end);
  }

  #missingBefore({ seq }: Numbered): string | null {
    const missing = seq - this.#next - this.#unread;
    return missing > 0 ? `${counted(missing)} missing before it` : null;
  }
}

/** Whether the event says that the recorder dropped events; a `dropped` event of a call has another meaning. */
function isUnwritten(event: Event): event is Extract<Event, { kind: 'dropped' }> {
  return event.kind === 'dropped' && event.what === 'event' && event.calls === undefined;
}

function counted(count: number): string {
  return count === 1 ? '1 event is' : `${count} events are`;
}

export interface Transcript {
  readonly header: TranscriptHeader | null;
  readonly events: readonly Event[];
  /** The number of each event's line, from 1; not of what was put together by hand. */
  readonly lines?: readonly number[];
  /** Why it ended; null where the file stops without saying so. */
  readonly end: string | null;
  /** What could not be read, each with its line number. What could be read is kept. */
  readonly faults: readonly string[];
  /** Missing events, each gap with the number of the line after it. */
  readonly lost: readonly string[];
}

/** Reads the lines of a transcript back into events. Never throws. Of several in a row it is the first; that there are others is a fault. */
export function readTranscript(lines: Iterable<string>): Transcript {
  const [first = new Recording(1), ...others] = readAll(lines);
  const left = others.map(({ line }) => `line ${line}: a second transcript starts here and was ignored`);
  const transcript = transcriptOf(first);
  return { ...transcript, faults: [...transcript.faults, ...left] };
}

/** Reads transcripts that stand one after the other in one file, as `cat` joins them: each is a recording of its own. Never throws. */
export function readTranscripts(lines: Iterable<string>): readonly Transcript[] {
  return readAll(lines).map(transcriptOf);
}

function readAll(lines: Iterable<string>): readonly Recording[] {
  const reader = new Reader();
  for (const line of lines) reader.take(line);
  return reader.recordings;
}

function transcriptOf({ header, events, lines, end, faults, lost }: Recording): Transcript {
  return { header, events, lines, end, faults: faultWords(faults), lost: faultWords(lost) };
}

type Line = z.infer<typeof transcriptLineSchema>;
type Of<K extends Line['kind']> = Extract<Line, { kind: K }>;
type EventLine = Exclude<Line, { kind: 'header' | 'body' | 'end' }>;

const eventSchema = factSchema(z.instanceof(Content));

class Recording {
  header: TranscriptHeader | null = null;
  end: string | null = null;
  readonly events: Event[] = [];
  readonly lines: number[] = [];
  readonly faults: LineFault[] = [];
  readonly lost: LineFault[] = [];
  readonly gaps = new Gaps();

  /** @param line the number of the first one */
  constructor(readonly line: number) {}
}

class Reader {
  readonly recordings: Recording[] = [];
  readonly #bodies = new Map<string, Content>();
  #current = this.#begin(1);
  #number = 0;

  take(source: string): void {
    this.#number++;
    const line = source.trim() === '' ? null : readLine(source);
    if (line && 'fault' in line) this.#unreadable(line.fault);
    else if (line) this.#keep(line);
  }

  #keep(line: Line): void {
    if (this.#isAnother(line)) this.#current = this.#begin(this.#number);
    if (line.kind === 'header') this.#current.header = line;
    else if (line.kind === 'end') this.#keepEnd(line);
    else if (line.kind === 'body') this.#keepBody(line);
    else if (this.#current.gaps.isRepeatedBy(line))
      this.#tell(this.#current.faults, `duplicate event ${line.seq}`);
    else this.#keepEvent(line);
  }

  /** Its header says so; of one that was lost, that the numbers begin anew. */
  #isAnother(line: Line): boolean {
    const { header, events, gaps, end } = this.#current;
    if (line.kind === 'header') return header !== null || events.length > 0;
    if (!isEvent(line)) return false;
    return gaps.isRestartedBy(line) || (end !== null && gaps.isRepeatedBy(line));
  }

  #begin(line: number): Recording {
    const recording = new Recording(line);
    this.recordings.push(recording);
    return recording;
  }

  #keepEnd({ seq, reason }: Of<'end'>): void {
    const { end, gaps, lost, faults } = this.#current;
    if (end !== null) this.#tell(faults, 'duplicate end line');
    else if (seq !== undefined) this.#tell(lost, gaps.beforeEnd({ seq }));
    this.#current.end ??= reason;
  }

  /** Checks the digest, so that edited bodies are detected. */
  #keepBody({ sha256, data, encoding }: Of<'body'>): void {
    const body = new Content(Buffer.from(data, encoding));
    if (body.sha256 !== sha256) this.#tell(this.#current.faults, 'the body does not match its sha256');
    this.#bodies.set(sha256, body);
  }

  #keepEvent(line: EventLine): void {
    const { end, events, lines, faults, gaps, lost } = this.#current;
    if (end !== null) this.#tell(faults, 'event after the end line');
    const event = this.#withBody(line);
    events.push(event);
    lines.push(this.#number);
    this.#tell(lost, gaps.before(event));
  }

  #withBody(line: EventLine): Event {
    const ref = 'body' in line ? line.body : undefined;
    if (!ref) return eventSchema.parse(line);
    const body = this.#bodies.get(ref.sha256);
    if (!body) this.#tell(this.#current.faults, 'refers to a body that is not in the lines before');
    return eventSchema.parse({ ...line, body });
  }

  #unreadable(fault: string): void {
    this.#current.gaps.unreadable();
    this.#tell(this.#current.faults, fault);
  }

  #tell(where: LineFault[], reason: string | null): void {
    if (reason !== null) where.push({ line: this.#number, reason });
  }
}

function isEvent(line: Line): line is EventLine {
  return line.kind !== 'header' && line.kind !== 'body' && line.kind !== 'end';
}

function readLine(source: string): Line | { readonly fault: string } {
  const json = parseJson(source);
  if (!json.ok) return { fault: json.reason };
  const line = validate(transcriptLineSchema, json.value);
  return line.ok ? line.value : { fault: line.faults.join('; ') };
}

const NO_HEADER = 'the header is missing; the first events may be missing too';
const NO_END =
  'no end line: the recording program is still running, was killed, or the last lines were cut off';

/** What of a transcript is not there, besides what could not be read: before it, in it and after it. @param which one of several it is */
export function missingFrom({ header, end, lost }: Transcript, which = ''): readonly string[] {
  return [
    ...(header === null ? [which + NO_HEADER] : []),
    ...lost,
    ...(end === null ? [which + NO_END] : []),
  ];
}

/** Whether all that happened is in it: only then does what is not in it mean that it did not happen. */
export function isWhole(transcript: Transcript): boolean {
  return transcript.faults.length === 0 && missingFrom(transcript).length === 0;
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
