/** Characters that are one grapheme cluster of one cell each: box drawing and most languages. For use inside `[]` of a pattern. */
export const NARROW =
  ' -~\u00A1-\u00AC\u00AE-\u02FF\u0384-\u0482\u048A-\u052F\u2010-\u2027\u2030-\u205E\u20A0-\u20C0\u2100-\u2319\u232B-\u23E8\u2400-\u2426\u2500-\u25FC\u2706-\u2709\u270E-\u2727\u2800-\u28FF';
/** Characters that are one grapheme cluster of two cells each. */
export const WIDE = '\u3001-\u3029\u3041-\u3096\u30A1-\u30FA\u4E00-\u9FFF\uAC00-\uD7A3\uFF01-\uFF60';

/** CR and LF are the only control characters that form a cluster. */
const PLAIN = new RegExp(`^[\\0-\\f\\x0E-\\x1F${NARROW}${WIDE}]*$`);

interface Segments extends Iterable<Intl.SegmentData> {
  containing(index?: number): Intl.SegmentData | undefined;
}

/**
 * `Intl.Segmenter` for grapheme clusters, created only when a text needs it: creating the first one takes half as long as a first frame.
 * The build substitutes this class in libraries that create a segmenter on load.
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

/** Maximum length of a slice. `Intl.Segmenter` takes superlinear time, so it gets slices; a longer cluster is split. */
const SLICE = 1_000;

function slicesOf(input: string, real: Intl.Segmenter): Segments {
  function* segments() {
    for (let from = 0; from < input.length; ) {
      const slice = input.slice(from, endOfSlice(input, from));
      const found = [...real.segment(slice)];
      const isLast = from + slice.length === input.length;
      // The last cluster may continue in the next slice.
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

/** Does not split a surrogate pair. */
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
