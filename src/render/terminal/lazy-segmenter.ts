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
 * `Intl.Segmenter` for grapheme clusters, created only when a text needs it, since creating the first one is slow.
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
    return input.length <= SLICE ? this.#real.segment(input) : slicedSegments(input, this.#real);
  }
}

/** Maximum length of a slice. `Intl.Segmenter` takes superlinear time, so it gets slices; a longer cluster is split. */
const SLICE = 1_000;

interface Slice {
  readonly from: number;
  readonly to: number;
  readonly segments: Intl.Segments;
}

function slicedSegments(input: string, real: Intl.Segmenter): Segments {
  const moved = (segment: Intl.SegmentData, { from }: Slice) => ({
    segment: segment.segment,
    index: from + segment.index,
    input,
  });
  let slices = slicesOf(input, real);
  let slice = slices.next().value;
  return {
    /** Libraries ask for one index after the other, so the slice is kept. */
    containing(index = 0) {
      if (index < (slice?.from ?? input.length)) {
        slices = slicesOf(input, real);
        slice = slices.next().value;
      }
      while (slice && index >= slice.to) slice = slices.next().value;
      const found = slice?.segments.containing(index - slice.from);
      return slice && found && moved(found, slice);
    },
    *[Symbol.iterator]() {
      for (const each of slicesOf(input, real))
        for (const segment of each.segments)
          if (segment.index < each.to - each.from) yield moved(segment, each);
    },
  };
}

function* slicesOf(input: string, real: Intl.Segmenter): Generator<Slice, undefined> {
  for (let from = 0; from < input.length; ) {
    const end = endOfSlice(input, from);
    const segments = real.segment(input.slice(from, end));
    // The last cluster may continue in the next slice.
    const last = end < input.length ? (segments.containing(end - from - 1)?.index ?? 0) : 0;
    const to = last > 0 ? from + last : end;
    yield { from, to, segments };
    from = to;
  }
  return undefined;
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
