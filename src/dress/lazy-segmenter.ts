import { NARROW, WIDE } from './plain.js';

/** Escapes of colours are clusters, too; of the controls only CR and LF make one together. */
const PLAIN = new RegExp(`^[\\0-\\f\\x0E-\\x1F${NARROW}${WIDE}]*$`);

interface Segments extends Iterable<Intl.SegmentData> {
  containing(index?: number): Intl.SegmentData | undefined;
}

/**
 * As `Intl.Segmenter` for clusters, but of plain text it knows that each character is one: the first real one of a process takes as
 * long to make as half a first frame. The build gives it to the libraries that make one as they are loaded.
 */
export class LazySegmenter {
  readonly #settings: ConstructorParameters<typeof Intl.Segmenter>;
  #real: Intl.Segmenter | undefined;

  constructor(...settings: ConstructorParameters<typeof Intl.Segmenter>) {
    this.#settings = settings;
  }

  segment(input: string): Segments {
    if (PLAIN.test(input)) return charactersOf(input);
    this.#real ??= new globalThis.Intl.Segmenter(...this.#settings);
    return this.#real.segment(input);
  }
}

function charactersOf(input: string): Segments {
  const at = (index: number) => ({ segment: input.charAt(index), index, input });
  return {
    containing: (index = 0) => (index < 0 || index >= input.length ? undefined : at(index)),
    *[Symbol.iterator]() {
      for (let index = 0; index < input.length; index++) yield at(index);
    },
  };
}
