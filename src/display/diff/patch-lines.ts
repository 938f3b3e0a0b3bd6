/** The lines of a patch: where each begins is known, and one is cut out only when it is asked for. */
export class PatchLines {
  readonly #starts: Uint32Array;

  /** @param most lines; one more is looked for, so that {@link count} tells of too many */
  constructor(
    readonly text: string,
    most = Number.POSITIVE_INFINITY,
  ) {
    const starts = [0];
    for (let end = text.indexOf('\n'); end >= 0 && starts.length <= most; end = text.indexOf('\n', end + 1))
      starts.push(end + 1);
    this.#starts = Uint32Array.from(starts);
  }

  get count(): number {
    return this.#starts.length;
  }

  /** A line without its line feed; undefined where the patch has none. */
  at(index: number): string | undefined {
    const start = this.#starts[index];
    if (start === undefined) return undefined;
    const next = this.#starts[index + 1];
    return this.text.slice(start, next === undefined ? undefined : next - 1);
  }

  /** The first character of a line, `''` where it is empty; undefined where the patch has none. */
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

  /** Where the lines `from` … `to` begin, as offsets into the text. */
  starts(from: number, to: number): Uint32Array {
    return this.#starts.subarray(from, to);
  }
}
