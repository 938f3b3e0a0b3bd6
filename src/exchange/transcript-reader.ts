import * as z from 'zod/mini';
import { validate } from '../protocol/validate.js';
import { parseJson } from '../text/json.js';
import { Content } from './content.js';
import type { Event } from './events.js';
import { factSchema } from './facts.js';
import { type TranscriptHeader, transcriptLineSchema } from './transcript-format.js';

export interface Transcript {
  readonly header: TranscriptHeader | null;
  readonly events: readonly Event[];
  /** Why it ended; null where the file stops without saying so. */
  readonly end: string | null;
  /** What could not be read, each with its line number. What could be read is kept. */
  readonly faults: readonly string[];
}

/** Reads the lines of a transcript back into events. Never throws. */
export function readTranscript(lines: Iterable<string>): Transcript {
  const reader = new Reader();
  for (const line of lines) reader.take(line);
  return reader;
}

type Line = z.infer<typeof transcriptLineSchema>;
type EventLine = Exclude<Line, { kind: 'header' | 'body' | 'end' }>;

const eventSchema = factSchema(z.instanceof(Content));

class Reader implements Transcript {
  header: TranscriptHeader | null = null;
  end: string | null = null;
  readonly events: Event[] = [];
  readonly faults: string[] = [];
  readonly #bodies = new Map<string, Content>();
  #number = 0;

  take(source: string): void {
    this.#number++;
    const line = source.trim() === '' ? null : readLine(source);
    if (line && 'fault' in line) this.#fault(line.fault);
    else if (line) this.#keep(line);
  }

  #keep(line: Line): void {
    if (line.kind === 'header') this.header = line;
    else if (line.kind === 'end') this.end = line.reason;
    else if (line.kind === 'body')
      this.#bodies.set(line.sha256, new Content(Buffer.from(line.data, line.encoding)));
    else this.#keepEvent(line);
  }

  #keepEvent(line: EventLine): void {
    const ref = 'body' in line ? line.body : undefined;
    const body = ref && this.#bodies.get(ref.sha256);
    if (ref && !body) this.#fault('refers to a body that no line before it carries');
    this.events.push(eventSchema.parse(ref ? { ...line, body } : line));
  }

  #fault(message: string): void {
    this.faults.push(`line ${this.#number}: ${message}`);
  }
}

function readLine(source: string): Line | { readonly fault: string } {
  const json = parseJson(source);
  if (!json.ok) return { fault: json.reason };
  const line = validate(transcriptLineSchema, json.value);
  return line.ok ? line.value : { fault: line.faults.join('; ') };
}
