/** A longer line goes on in the next one: a terminal would choke on it. */
const MAX_LINE = 1_000;
/** So many lines are a block. Only where blocks begin is remembered, or a text of line feeds would cost many times its size. */
const BLOCK = 64;

/** Where in a string a line stands, without its line feed. */
interface Extent {
  readonly from: number;
  readonly to: number;
}

/** The lines of a text, which is never split whole: it may be 50 MiB. */
export interface TextIndex {
  /** How many lines there are. */
  readonly length: number;
  /** A line; whether it was cut, and goes on in the next one. */
  at(index: number): { readonly text: string; readonly goesOn: boolean };
  /** The nearest line at or beyond `from` in this direction that matches. */
  find(wanted: RegExp, from: number, step: 1 | -1): number | null;
}

/** Reads the text once. */
export function indexText(text: string): TextIndex {
  const { starts, length } = blocksOf(text);
  const startOf = (block: number) => starts[block] ?? text.length;
  const cut = (block: number) => text.slice(startOf(block), startOf(block + 1));
  return {
    length,
    at(index) {
      const block = Math.floor(index / BLOCK);
      const start = startOf(block);
      const { from, to } = extentsOf(cut(block))[index % BLOCK] ?? { from: 0, to: 0 };
      const end = start + to;
      return { text: text.slice(start + from, end), goesOn: end < text.length && text[end] !== '\n' };
    },
    find(wanted, from, step) {
      for (let block = Math.floor(from / BLOCK); block >= 0 && block < starts.length; block += step) {
        const found = findIn(cut(block), wanted, from - block * BLOCK, step);
        if (found !== null) return block * BLOCK + found;
      }
      return null;
    },
  };
}

function blocksOf(text: string): { readonly starts: Uint32Array; readonly length: number } {
  const starts: number[] = [];
  let length = 0;
  eachLine(text, from => {
    if (length % BLOCK === 0) starts.push(from);
    length++;
  });
  return { starts: Uint32Array.from(starts), length };
}

function extentsOf(block: string): readonly Extent[] {
  const extents: Extent[] = [];
  eachLine(block, (from, to) => extents.push({ from, to }));
  return extents;
}

/** Most blocks have no match at all, and are tried as one. */
function findIn(block: string, wanted: RegExp, from: number, step: 1 | -1): number | null {
  if (!wanted.test(block)) return null;
  const extents = extentsOf(block);
  for (let index = step > 0 ? Math.max(0, from) : Math.min(from, extents.length - 1); ; index += step) {
    const extent = extents[index];
    if (!extent) return null;
    if (wanted.test(block.slice(extent.from, extent.to))) return index;
  }
}

/** An empty text is one empty line; after a last line feed there is none. */
function eachLine(text: string, take: (from: number, to: number) => void): void {
  let feed = -1;
  for (let from = 0; from < text.length || from === 0; ) {
    if (feed < from) feed = feedFrom(text, from);
    const to = Math.min(feed, wholeCharacters(text, from + MAX_LINE));
    take(from, to);
    from = to < feed ? to : feed + 1;
  }
}

function feedFrom(text: string, from: number): number {
  const feed = text.indexOf('\n', from);
  return feed < 0 ? text.length : feed;
}

/** Half of a surrogate pair would be shown as something hidden. */
function wholeCharacters(text: string, end: number): number {
  return (text.codePointAt(end - 1) ?? 0) > 0xffff ? end + 1 : end;
}
