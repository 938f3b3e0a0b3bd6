/** The lines of a patch, as offsets; each line is sliced when it is read. */
export class PatchLines {
  readonly #starts: Uint32Array;

  /** @param max maximum number of lines; one more is counted, so that {@link count} exceeds it */
  constructor(
    readonly text: string,
    max = Number.POSITIVE_INFINITY,
  ) {
    const starts = [0];
    for (let end = text.indexOf('\n'); end >= 0 && starts.length <= max; end = text.indexOf('\n', end + 1))
      starts.push(end + 1);
    this.#starts = Uint32Array.from(starts);
  }

  get count(): number {
    return this.#starts.length;
  }

  /** A line without its line feed; undefined if out of range. */
  at(index: number): string | undefined {
    const start = this.#starts[index];
    if (start === undefined) return undefined;
    const next = this.#starts[index + 1];
    return this.text.slice(start, next === undefined ? undefined : next - 1);
  }

  /** The first character of a line, `''` if it is empty; undefined if out of range. */
  signAt(index: number): string | undefined {
    const start = this.#starts[index];
    if (start === undefined) return undefined;
    const sign = this.text.charAt(start);
    return sign === '\n' ? '' : sign;
  }

  startsWith(index: number, words: string): boolean {
    const start = this.#starts[index];
    return start !== undefined && this.text.startsWith(words, start);
  }

  /** The offsets of the lines `from` … `to`. */
  starts(from: number, to: number): Uint32Array {
    return this.#starts.subarray(from, to);
  }
}
