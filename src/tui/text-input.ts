import { type Line, quote, say } from '../render/line.js';
import { cutLine, widthOf } from '../render/terminal/fit.js';
import { LazySegmenter } from '../render/terminal/lazy-segmenter.js';
import type { Press } from './keys.js';

/** A text that is being typed. */
export interface TextInput {
  readonly text: string;
  /** In UTF-16 units. */
  readonly cursor: number;
}

export function textInput(text: string, cursor = text.length): TextInput {
  return { text, cursor: Math.min(cursor, text.length) };
}

export function insertText({ text, cursor }: TextInput, piece: string): TextInput {
  return textInput(text.slice(0, cursor) + piece + text.slice(cursor), cursor + piece.length);
}

/** A position in the text, found from the cursor. */
type Target = (input: TextInput) => number;

interface EditingKey {
  /** Key names, see `Press`, separated by spaces. */
  readonly keys: string;
  readonly does: string;
  readonly edit: (input: TextInput) => TextInput;
}

function moving(keys: string, does: string, target: Target): EditingKey {
  return { keys, does, edit: input => textInput(input.text, target(input)) };
}

function erasing(keys: string, does: string, target: Target): EditingKey {
  return {
    keys,
    does,
    edit(input) {
      const { text, cursor } = input;
      const to = target(input);
      const from = Math.min(cursor, to);
      return textInput(text.slice(0, from) + text.slice(Math.max(cursor, to)), from);
    },
  };
}

/** The keys of every text: in a prompt, a search, a field of a form, and JSON. */
export const EDITING_KEYS: readonly EditingKey[] = [
  moving('left', 'a character to the left', characterStart),
  moving('right', 'a character to the right', characterEnd),
  moving('ctrl+left meta+left meta+b', 'a word to the left', wordStart),
  moving('ctrl+right meta+right meta+f', 'a word to the right', wordEnd),
  moving('home ctrl+a', 'to the start of the line', lineStart),
  moving('end ctrl+e', 'to the end of the line', lineEnd),
  erasing('erase', 'erase the character before the cursor', characterStart),
  erasing('delete', 'erase the character at the cursor', characterEnd),
  erasing('ctrl+w', 'erase the word before the cursor, up to a blank', blankStart),
  erasing('meta+erase', 'erase to the start of the word', wordStart),
  erasing('meta+d', 'erase to the end of the word', wordEnd),
  erasing('ctrl+u', 'erase to the start of the line', input =>
    Math.min(lineStart(input), characterStart(input)),
  ),
  erasing('ctrl+k', 'erase to the end of the line', input => Math.max(lineEnd(input), characterEnd(input))),
];

const EDITS = new Map(
  EDITING_KEYS.flatMap(({ keys, edit }) => keys.split(' ').map(key => [key, edit] as const)),
);

/** The text after an editing key; other keys do nothing. */
export function editText(input: TextInput, key: string): TextInput {
  return EDITS.get(key)?.(input) ?? input;
}

/** The single-line text after a key. Control characters are never inserted. */
export function pressText(input: TextInput, { name, text }: Press): TextInput {
  if (EDITS.has(name)) return editText(input, name);
  return insertText(input, [...text].filter(character => character >= ' ').join(''));
}

/** Moves down by `count` lines (up if negative), to the same column or to the end of a shorter line. */
export function moveLines(input: TextInput, count: number): TextInput {
  const { text } = input;
  let start = lineStart(input);
  const column = input.cursor - start;
  for (let left = Math.abs(count); left > 0; left--) {
    const end = lineEnd({ text, cursor: start });
    if (count < 0) start = lineStart({ text, cursor: Math.max(0, start - 1) });
    else if (end < text.length) start = end + 1;
  }
  return { text, cursor: Math.min(start + column, lineEnd({ text, cursor: start })) };
}

/** Extends the text before the cursor to the longest common prefix. @param candidates sorted; each begins with that text */
export function completed(input: TextInput, candidates: readonly string[]): TextInput {
  const first = [...(candidates.at(0) ?? '')];
  const last = [...(candidates.at(-1) ?? '')]; // the common prefix of the first and the last of a sorted list is common to all
  const differs = first.findIndex((character, index) => character !== last[index]);
  const start = first.slice(0, differs < 0 ? first.length : differs).join('');
  const { text, cursor } = input;
  return start.length <= cursor ? input : textInput(start + text.slice(cursor), start.length);
}

export function lineStart({ text, cursor }: TextInput): number {
  return cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1;
}

function lineEnd({ text, cursor }: TextInput): number {
  const end = text.indexOf('\n', cursor);
  return end < 0 ? text.length : end;
}

/** Maximum length of a grapheme cluster; longer ones are split. */
const MAX_CLUSTER = 64;
const CLUSTERS = new LazySegmenter();

function characterStart({ text, cursor }: TextInput): number {
  const last = clustersOf(text.slice(Math.max(0, cursor - MAX_CLUSTER), cursor)).at(-1) ?? '';
  return cursor - last.length;
}

function characterEnd({ text, cursor }: TextInput): number {
  const [first] = CLUSTERS.segment(text.slice(cursor, cursor + MAX_CLUSTER));
  return cursor + (first?.segment.length ?? 0);
}

/** Where Ctrl-W stops: words are separated by blanks. At the start of a line, the end of the line above. */
function blankStart(input: TextInput): number {
  const start = lineStart(input);
  if (input.cursor === start) return characterStart(input);
  const line = input.text.slice(start, input.cursor).trimEnd();
  return start + Math.max(line.lastIndexOf(' '), line.lastIndexOf('\t')) + 1;
}

/** Letters and digits, with what may follow them in a grapheme cluster. */
const OF_WORD = /^[\p{L}\p{N}\p{M}\p{Cf}_]$/u;

function wordStart({ text, cursor }: TextInput): number {
  const before = (at: number) => [...text.slice(Math.max(0, at - 2), at)].at(-1) ?? '';
  let at = cursor;
  while (at > 0 && !OF_WORD.test(before(at))) at -= before(at).length;
  while (at > 0 && OF_WORD.test(before(at))) at -= before(at).length;
  return at;
}

function wordEnd({ text, cursor }: TextInput): number {
  const after = (at: number) => [...text.slice(at, at + 2)].at(0) ?? '';
  let at = cursor;
  while (at < text.length && !OF_WORD.test(after(at))) at += after(at).length;
  while (at < text.length && OF_WORD.test(after(at))) at += after(at).length;
  return at;
}

/** Maximum number of UTF-16 units that are read for a cell: letters may have several marks. */
const UNITS_PER_CELL = 8;

/**
 * The whole text if it fits `width` cells, else the part around the cursor, which fills them. A text may have megabytes, so only what may
 * be visible is read.
 */
export function inputLine({ text, cursor }: TextInput, width: number): Line {
  const reach = UNITS_PER_CELL * width;
  const isCutBefore = cursor > reach;
  const before = visibleClusters(text.slice(Math.max(0, cursor - reach), cursor)).slice(isCutBefore ? 1 : 0);
  const [at = ' ', ...following] = clustersOf(text.slice(cursor, cursor + reach));
  const isCutAfter = cursor + reach < text.length;
  const focus = cutLine(
    quote(at).map(span => say(span.text, 'cursor')),
    Math.max(1, width - 1),
  );
  const forAfter = isCutAfter ? width : widthOf(quote(following.join('')));
  const left = width - widthOf(focus);
  const start = [...endLine(before, isCutBefore, left - Math.min(forAfter, Math.floor(left / 3))), ...focus];
  return [...start, ...startLine(following.join(''), isCutAfter, width - widthOf(start))];
}

/** The start of a text, without a cursor. */
export function quietLine(text: string, width: number): Line {
  const reach = UNITS_PER_CELL * width;
  return startLine(text.slice(0, reach), text.length > reach, width);
}

/** The last pieces that fit; an ellipsis replaces the others. */
function endLine(pieces: readonly Line[], isCut: boolean, width: number): Line {
  if (!isCut && widthOf(pieces.flat()) <= width) return pieces.flat();
  let left = width - 1;
  const last = pieces.findLastIndex(piece => {
    left -= widthOf(piece);
    return left < 0;
  });
  return width < 1 ? [] : [say('…', 'dim'), ...pieces.slice(last + 1).flat()];
}

/** The clusters of a text; one with hidden characters, which are shown as long words, is split into its characters. */
function visibleClusters(text: string): readonly Line[] {
  return clustersOf(text).flatMap(cluster => {
    const piece = quote(cluster);
    return piece.some(({ tone }) => tone === 'hidden') ? Array.from(cluster, each => quote(each)) : [piece];
  });
}

function startLine(text: string, isCut: boolean, width: number): Line {
  return cutLine([...quote(text), ...(isCut ? [say(' '.repeat(width))] : [])], width);
}

function clustersOf(text: string): readonly string[] {
  return Array.from(CLUSTERS.segment(text), ({ segment }) => segment);
}
