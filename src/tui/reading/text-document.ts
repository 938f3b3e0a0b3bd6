import { quote, say } from '../../render/line.js';
import { type Document, findLine, simpleDocument } from './document.js';

/** Maximum length of a line, in characters; the rest continues on the next line, since terminals are slow with long ones. */
const MAX_LINE = 1_000;

/** Ends a line that continues on the next one. */
export const GOES_ON = say(' …', 'dim');

/** Lines per block. Only the starts of blocks are kept: the starts of all lines could take many times the size of the text. */
const BLOCK = 64;

/** A document for a text of 50 MiB and more: read once here, never split whole. */
export function textDocument(text: string): Document {
  const starts: number[] = [];
  let length = 0;
  eachLine(text, from => {
    if (length % BLOCK === 0) starts.push(from);
    length++;
  });
  const textsIn = (block: number) => {
    const start = starts[block] ?? text.length;
    const lines: { readonly text: string; readonly goesOn: boolean }[] = [];
    eachLine(text.slice(start, starts[block + 1]), (from, to) => {
      const after = start + to;
      const goesOn = after < text.length && text[after] !== '\n';
      lines.push({ text: text.slice(start + from, after), goesOn });
    });
    return lines;
  };
  return simpleDocument({
    length,
    line(index) {
      const line = index < length ? textsIn(Math.floor(index / BLOCK))[index % BLOCK] : undefined;
      if (!line) return [];
      return line.goesOn ? [...quote(line.text), GOES_ON] : quote(line.text);
    },
    find(wanted, from, step) {
      for (let block = Math.floor(from / BLOCK); block >= 0 && block < starts.length; block += step) {
        if (!wanted.test(text.slice(starts[block], starts[block + 1]))) continue; // most blocks have no match
        const lines = textsIn(block);
        const first = from - block * BLOCK;
        const start = step > 0 ? Math.max(0, first) : Math.min(first, lines.length - 1);
        const found = findLine(lines.length, start, step, at => wanted.test(lines[at]?.text ?? ''));
        if (found !== null) return block * BLOCK + found;
      }
      return null;
    },
  });
}

/** Calls `take` with the range of each line, without line feeds. An empty text is one empty line; a trailing line feed starts no line. */
function eachLine(text: string, take: (from: number, to: number) => void): void {
  let feed = -1;
  for (let from = 0; from < text.length || from === 0; ) {
    if (feed < from) {
      const next = text.indexOf('\n', from);
      feed = next < 0 ? text.length : next;
    }
    const end = from + MAX_LINE;
    const isInPair = (text.codePointAt(end - 1) ?? 0) > 0xffff;
    const to = Math.min(feed, isInPair ? end + 1 : end);
    take(from, to);
    from = to < feed ? to : feed + 1;
  }
}
