import type { Event } from '../events/events.js';
import { type TranscriptAbout, transcriptWriter } from '../events/transcript-writer.js';
import { type ColourLevel, colourLevel } from '../render/terminal/colour-level.js';
import { wholeCharacters } from '../system/streams.js';
import type { Redactor } from '../util/redact.js';
import type { Terminal } from './terminal.js';

/** Bytes that may wait for a reader; lines beyond that are dropped and counted. */
const MAX_WAITING = 64 * 1024 * 1024;
/** Characters. Each write copies its text, so a long line is written in pieces. */
const PIECE = 1024 * 1024;

/** The part of a stream that {@link BoundedLines} needs. */
interface Output {
  readonly writableLength: number;
  write(text: string): unknown;
}

/**
 * Writes lines to a reader that may be slower than the events. Lines that would fill the memory are dropped (threats, row 30), and a
 * line says how many as soon as there is room again.
 */
export class BoundedLines {
  #lost = 0;

  constructor(
    private readonly output: Output,
    private readonly dropped: (count: number) => readonly string[],
    private readonly maxWaiting = MAX_WAITING,
  ) {}

  /** Writes all of the lines or none; dropped lines are not even made. */
  write(lines: () => readonly string[]): void {
    if (this.output.writableLength > this.maxWaiting) this.#lost++;
    else this.end(lines);
  }

  /** Writes the lines in any case, after the line about dropped ones. */
  end(lines: () => readonly string[]): void {
    const dropped = this.#lost > 0 ? this.dropped(this.#lost) : [];
    this.#lost = 0;
    for (const line of [...dropped, ...lines()]) this.#writeLine(line);
  }

  #writeLine(line: string): void {
    let from = 0;
    for (; line.length - from > PIECE; from = wholeCharacters(line, from + PIECE))
      this.output.write(line.slice(from, wholeCharacters(line, from + PIECE)));
    this.output.write(`${line.slice(from)}\n`);
  }
}

/** The event that stands in a transcript for those that a slow reader had no room for. */
export function droppedEvents(count: number, { seq, at }: Pick<Event, 'seq' | 'at'>): Event {
  return { kind: 'dropped', what: 'event', why: 'the reader of stdout is too slow', count, seq, at };
}

/** Calls the listener for each event so far and each one to come. Returns how to stop. */
export type Subscribe = (listener: (event: Event) => void) => () => void;

export function subscribeToAll(source: {
  readonly events: Iterable<Event>;
  readonly subscribe: Subscribe;
}): Subscribe {
  return listener => {
    for (const event of source.events) listener(event);
    return source.subscribe(listener);
  };
}

/** `-o ndjson`: writes each event to stdout as a line of a transcript. Returns how to end the transcript. */
export function streamTranscript(
  subscribe: Subscribe,
  stdout: Output,
  redactor: Redactor,
  about: TranscriptAbout,
): (reason: string) => void {
  const writer = transcriptWriter(redactor);
  let latest = { seq: 0, at: 0 };
  const lines = new BoundedLines(stdout, count => writer.event(droppedEvents(count, latest)));
  lines.end(() => [writer.header(about)]);
  const stop = subscribe(event => {
    lines.write(() => writer.event(event));
    latest = event;
  });
  return reason => {
    stop();
    lines.end(() => [writer.end(reason)]);
  };
}

/** Where a server prints lines for people: stdout if it is a terminal of its own. */
export function streamForPeople(
  { stdout, stderr }: Pick<Terminal, 'stdout' | 'stderr'>,
  command: readonly string[] | null = null,
): NodeJS.WriteStream {
  return stdout.isTTY === true && command === null ? stdout : stderr;
}

export function colourOf(
  stream: NodeJS.WriteStream,
  { color }: { readonly color: boolean },
  { env }: Pick<Terminal, 'env'>,
): ColourLevel {
  return colourLevel({ env, isTTY: stream.isTTY === true, noColor: !color });
}
