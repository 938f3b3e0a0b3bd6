import { wholeCharacters } from '../system/output.js';

/** Bytes that may wait for a reader; what comes while more do is dropped, and counted. */
const MOST = 64 * 1024 * 1024;
/** Characters. */
const PIECE = 1024 * 1024;

/** Of a stream: what can be written to, and says how much waits there. */
interface Paper {
  readonly writableLength: number;
  write(text: string): unknown;
}

/**
 * Writes lines to somebody who may read more slowly than they come: nothing can wait for that, so what would fill the memory is
 * dropped (threats, row 30). Once there is room again `dropped` says how many were: never in silence.
 */
export class BoundedLines {
  #lost = 0;

  constructor(
    private readonly paper: Paper,
    private readonly dropped: (count: number) => readonly string[],
    private readonly most = MOST,
  ) {}

  /** Lines that belong together: all are written, or none, and then they are not even made. */
  write(lines: () => readonly string[]): void {
    if (this.paper.writableLength > this.most) this.#lost++;
    else this.end(lines);
  }

  /** Written in any case, and made after what was lost is told: the last of them counts it. */
  end(lines: () => readonly string[]): void {
    const told = this.#lost > 0 ? this.dropped(this.#lost) : [];
    this.#lost = 0;
    for (const line of [...told, ...lines()]) this.#writeLine(line);
  }

  /** A long line in pieces: each write copies what it is given. */
  #writeLine(line: string): void {
    let from = 0;
    for (; line.length - from > PIECE; from = wholeCharacters(line, from + PIECE))
      this.paper.write(line.slice(from, wholeCharacters(line, from + PIECE)));
    this.paper.write(`${line.slice(from)}\n`);
  }
}
