import * as z from 'zod/mini';
import { validate } from '../protocol/validate.js';
import { parseJson } from '../text/json.js';
import { Content } from './content.js';
import type { Event } from './events.js';
import { factSchema } from './facts.js';
import { type TranscriptHeader, transcriptLineSchema } from './transcript-format.js';
import { Gaps } from './transcript-gaps.js';

export interface Transcript {
  readonly header: TranscriptHeader | null;
  readonly events: readonly Event[];
  /** Why it ended; null where the file stops without saying so. */
  readonly end: string | null;
  /** What could not be read, each with its line number. What could be read is kept. */
  readonly faults: readonly string[];
  /** Events that there were and that no line tells of, each gap with the number of the line after it. */
  readonly lost: readonly string[];
}

/** Reads the lines of a transcript back into events. Never throws. Of several in a row it is the first; that there are others is a fault. */
export function readTranscript(lines: Iterable<string>): Transcript {
  const { recordings } = readAll(lines);
  const [first = new Recording(1), ...others] = recordings;
  const faults = others.map(({ line }) => `line ${line}: another transcript begins here, and is left out`);
  return { ...first, faults: [...first.faults, ...faults] };
}

/** Reads transcripts that stand one after the other in one file, as `cat` joins them: each is a recording of its own. Never throws. */
export function readTranscripts(lines: Iterable<string>): readonly Transcript[] {
  return readAll(lines).recordings;
}

function readAll(lines: Iterable<string>): Reader {
  const reader = new Reader();
  for (const line of lines) reader.take(line);
  return reader;
}

type Line = z.infer<typeof transcriptLineSchema>;
type EventLine = Exclude<Line, { kind: 'header' | 'body' | 'end' }>;

const eventSchema = factSchema(z.instanceof(Content));

class Recording implements Transcript {
  header: TranscriptHeader | null = null;
  end: string | null = null;
  readonly events: Event[] = [];
  readonly faults: string[] = [];
  readonly lost: string[] = [];
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
    else if (line.kind === 'end') this.#current.end = line.reason;
    else if (line.kind === 'body')
      this.#bodies.set(line.sha256, new Content(Buffer.from(line.data, line.encoding)));
    else this.#keepEvent(line);
  }

  /** Its header says so; of one that was lost, that the numbers begin anew. */
  #isAnother(line: Line): boolean {
    const { header, events, gaps } = this.#current;
    if (line.kind === 'header') return header !== null || events.length > 0;
    return 'seq' in line && gaps.isRestartedBy(line);
  }

  #begin(line: number): Recording {
    const recording = new Recording(line);
    this.recordings.push(recording);
    return recording;
  }

  #keepEvent(line: EventLine): void {
    const ref = 'body' in line ? line.body : undefined;
    const body = ref && this.#bodies.get(ref.sha256);
    if (ref && !body) this.#tell(this.#current.faults, 'refers to a body that no line before it carries');
    const event = eventSchema.parse(ref ? { ...line, body } : line);
    this.#current.events.push(event);
    const gap = this.#current.gaps.before(event);
    if (gap !== null) this.#tell(this.#current.lost, gap);
  }

  #unreadable(fault: string): void {
    this.#current.gaps.unreadable();
    this.#tell(this.#current.faults, fault);
  }

  #tell(where: string[], message: string): void {
    where.push(`line ${this.#number}: ${message}`);
  }
}

function readLine(source: string): Line | { readonly fault: string } {
  const json = parseJson(source);
  if (!json.ok) return { fault: json.reason };
  const line = validate(transcriptLineSchema, json.value);
  return line.ok ? line.value : { fault: line.faults.join('; ') };
}
