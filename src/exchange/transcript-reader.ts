import * as z from 'zod/mini';
import { validate } from '../protocol/validate.js';
import { parseJson } from '../text/json.js';
import { Content } from './content.js';
import type { Event } from './events.js';
import { factSchema } from './facts.js';
import { faultWords, type LineFault } from './transcript-faults.js';
import { type TranscriptHeader, transcriptLineSchema } from './transcript-format.js';
import { Gaps } from './transcript-gaps.js';

export interface Transcript {
  readonly header: TranscriptHeader | null;
  readonly events: readonly Event[];
  /** The number of each event's line, from 1; not of what was put together by hand. */
  readonly lines?: readonly number[];
  /** Why it ended; null where the file stops without saying so. */
  readonly end: string | null;
  /** What could not be read, each with its line number. What could be read is kept. */
  readonly faults: readonly string[];
  /** Events that there were and that no line tells of, each gap with the number of the line after it. */
  readonly lost: readonly string[];
}

/** Reads the lines of a transcript back into events. Never throws. Of several in a row it is the first; that there are others is a fault. */
export function readTranscript(lines: Iterable<string>): Transcript {
  const [first = new Recording(1), ...others] = readAll(lines);
  const left = others.map(({ line }) => `line ${line}: another transcript begins here, and is left out`);
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
      this.#tell(this.#current.faults, `event ${line.seq} is there twice`);
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
    if (end !== null) this.#tell(faults, 'it has ended before');
    else if (seq !== undefined) this.#tell(lost, gaps.beforeEnd({ seq }));
    this.#current.end ??= reason;
  }

  /** The digest is looked at: bytes that somebody has changed were said by nobody. */
  #keepBody({ sha256, data, encoding }: Of<'body'>): void {
    const body = new Content(Buffer.from(data, encoding));
    if (body.sha256 !== sha256)
      this.#tell(this.#current.faults, 'the body is not that of its digest (sha256)');
    this.#bodies.set(sha256, body);
  }

  #keepEvent(line: EventLine): void {
    const { end, events, lines, faults, gaps, lost } = this.#current;
    if (end !== null) this.#tell(faults, 'stands after the end');
    const event = this.#withBody(line);
    events.push(event);
    lines.push(this.#number);
    this.#tell(lost, gaps.before(event));
  }

  #withBody(line: EventLine): Event {
    const ref = 'body' in line ? line.body : undefined;
    if (!ref) return eventSchema.parse(line);
    const body = this.#bodies.get(ref.sha256);
    if (!body) this.#tell(this.#current.faults, 'refers to a body that no line before it carries');
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
