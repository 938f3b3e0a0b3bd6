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
    return input.length <= SLICE ? this.#real.segment(input) : slicesOf(input, this.#real);
  }
}

/** The real one takes ever longer for each character, the longer a text is; a longer cluster is taken apart. */
const SLICE = 1_000;

function slicesOf(input: string, real: Intl.Segmenter): Segments {
  function* segments() {
    for (let from = 0; from < input.length; ) {
      const slice = input.slice(from, endOfSlice(input, from));
      const found = [...real.segment(slice)];
      const isLast = from + slice.length === input.length;
      // The last cluster may go on in the next slice.
      const whole = isLast || found.length === 1 ? found : found.slice(0, -1);
      for (const { segment, index } of whole) yield { segment, index: from + index, input };
      from += isLast || found.length === 1 ? slice.length : (found.at(-1)?.index ?? slice.length);
    }
  }
  return {
    containing(index = 0) {
      for (const each of segments())
        if (index >= each.index && index < each.index + each.segment.length) return each;
    },
    [Symbol.iterator]: segments,
  };
}

/** No surrogate pair is cut. */
function endOfSlice(input: string, from: number): number {
  const end = Math.min(from + SLICE, input.length);
  return end < input.length && /[\ud800-\udbff]/.test(input.charAt(end - 1)) ? end + 1 : end;
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
