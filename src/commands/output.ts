import type { Event } from '../events/events.js';
import { type ColourLevel, colourLevel } from '../render/terminal/colour-level.js';
import type { OutputLine } from '../util/redact.js';
import { piecesOf } from '../util/text.js';
import type { Terminal } from './terminal.js';

/** Maximum number of characters waiting for a reader; further lines are dropped and counted. */
const MAX_WAITING = 64 * 1024 * 1024;

/** Maximum number of bytes handed to the stream before its reader took them; a long line is made in pieces. */
const MAX_AHEAD = 1024 * 1024;

interface Output {
  readonly writableLength: number;
  write(text: string): unknown;
  once(event: 'drain', listener: () => void): unknown;
}

/**
 * Writes lines to a reader that may be slow. Producers cannot wait, so lines that would fill the memory are dropped (threats, row 30).
 * When there is room again, `dropped` returns the lines that report their number.
 */
export class BoundedLines {
  readonly #waiting: { readonly length: number; readonly pieces: Iterator<string> }[] = [];
  #lost = 0;
  #isPaused = false;

  constructor(
    private readonly output: Output,
    private readonly dropped: (count: number) => readonly OutputLine[],
    private readonly maxWaiting = MAX_WAITING,
  ) {}

  /** Writes all of these lines, or none; dropped lines are never created. */
  write(lines: () => readonly OutputLine[]): void {
    const waiting = this.#waiting.reduce((sum, { length }) => sum + length, this.output.writableLength);
    if (waiting > this.maxWaiting) this.#lost++;
    else this.end(lines);
  }

  /** Writes lines that are never dropped, after the report of dropped ones. */
  end(lines: () => readonly OutputLine[]): void {
    const lost = this.#lost > 0 ? this.dropped(this.#lost) : [];
    this.#lost = 0;
    const all = [...lost, ...lines()];
    this.#waiting.push({
      length: all.reduce((sum, line) => sum + line.length, 0),
      pieces: piecesOfLines(all),
    });
    this.#flush();
  }

  #flush(): void {
    while (!this.#isPaused) {
      const piece = this.#waiting[0]?.pieces.next();
      if (!piece) return;
      if (piece.done) this.#waiting.shift();
      else this.output.write(piece.value);
      if (this.output.writableLength > MAX_AHEAD) this.#pause();
    }
  }

  #pause(): void {
    this.#isPaused = true;
    this.output.once('drain', () => {
      this.#isPaused = false;
      this.#flush();
    });
  }
}

/** Joins short lines and splits long ones. */
function* piecesOfLines(lines: readonly OutputLine[]): Generator<string> {
  let piece = '';
  for (const line of lines) {
    for (const part of typeof line === 'string' ? piecesOf(line) : line) {
      piece += part;
      if (piece.length < WRITE_SIZE) continue;
      yield piece;
      piece = '';
    }
    piece += '\n';
  }
  if (piece !== '') yield piece;
}

/** Approximate number of characters per write. */
const WRITE_SIZE = 64 * 1024;

/** Returns the event that replaces events dropped for a slow reader. */
export function droppedEvents(count: number, { seq, at }: Pick<Event, 'seq' | 'at'>): Event {
  return { kind: 'dropped', what: 'event', why: 'the reader of stdout is too slow', count, seq, at };
}

export function colourOf(
  stream: NodeJS.WriteStream,
  { color }: { readonly color: boolean },
  { env }: Pick<Terminal, 'env'>,
): ColourLevel {
  return colourLevel({ env, isTTY: stream.isTTY === true, noColor: !color });
}
