import { type Line, quote, say, type Tone } from '../render/line.js';
import { LazySegmenter } from '../render/terminal/lazy-segmenter.js';
import { widthOf } from '../render/terminal/theme.js';
import { nameOf, type Press } from './keys.js';

/** A text that is typed, of one line or of several. `cursor` counts UTF-16 units. */
export interface TextInput {
  readonly text: string;
  readonly cursor: number;
}

const COMMANDS = ['left', 'right', 'home', 'end', 'erase', 'eraseWord', 'eraseLine'] as const;
export type TextCommand = (typeof COMMANDS)[number];

export function isTextCommand(command: string): command is TextCommand {
  return COMMANDS.some(each => each === command);
}

export function insert({ text, cursor }: TextInput, piece: string): TextInput {
  return { text: text.slice(0, cursor) + piece + text.slice(cursor), cursor: cursor + piece.length };
}

/** Moves and erases by what a person sees as one character, within the line where that has an end. */
export function stepText(input: TextInput, command: TextCommand): TextInput {
  const { text } = input;
  switch (command) {
    case 'left':
      return { text, cursor: before(input) };
    case 'right':
      return { text, cursor: after(input) };
    case 'home':
      return { text, cursor: lineStart(input) };
    case 'end':
      return { text, cursor: lineEnd(input) };
    case 'erase':
      return eraseFrom(input, before(input));
    case 'eraseWord':
      return eraseFrom(input, wordStart(input));
    case 'eraseLine':
      return eraseFrom(input, Math.min(lineStart(input), before(input)));
  }
}

const PROMPT_KEYS: ReadonlyMap<string, TextCommand> = new Map<string, TextCommand>([
  ['left', 'left'],
  ['right', 'right'],
  ['home', 'home'],
  ['ctrl+a', 'home'],
  ['end', 'end'],
  ['ctrl+e', 'end'],
  ['erase', 'erase'],
  ['ctrl+u', 'eraseLine'],
  ['ctrl+w', 'eraseWord'],
]);

/** A text of one line after a key. Control characters are never inserted. */
export function stepPrompt(prompt: TextInput, press: Press): TextInput {
  const command = PROMPT_KEYS.get(nameOf(press));
  if (command) return stepText(prompt, command);
  if (press.key.ctrl || press.key.meta) return prompt;
  return insert(prompt, [...press.input].filter(character => character >= ' ').join(''));
}

/** So many lines further down (up, where negative), in the same column as far as the line has it. */
export function moveLines(input: TextInput, count: number): TextInput {
  const { text } = input;
  const column = input.cursor - lineStart(input);
  let start = lineStart(input);
  for (let left = Math.abs(count); left > 0; left--) {
    const end = lineEnd({ text, cursor: start });
    if (count < 0) start = start === 0 ? 0 : lineStart({ text, cursor: start - 1 });
    else if (end < text.length) start = end + 1;
  }
  return { text, cursor: Math.min(start + column, lineEnd({ text, cursor: start })) };
}

export function lineStart({ text, cursor }: TextInput): number {
  return cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1;
}

function lineEnd({ text, cursor }: TextInput): number {
  const end = text.indexOf('\n', cursor);
  return end < 0 ? text.length : end;
}

function eraseFrom({ text, cursor }: TextInput, from: number): TextInput {
  return { text: text.slice(0, from) + text.slice(cursor), cursor: from };
}

/** Longer clusters are taken apart. */
const LONGEST = 64;
const CLUSTERS = new LazySegmenter();

function before({ text, cursor }: TextInput): number {
  const last = [...CLUSTERS.segment(text.slice(Math.max(0, cursor - LONGEST), cursor))].at(-1);
  return cursor - (last?.segment.length ?? 0);
}

function after({ text, cursor }: TextInput): number {
  const [first] = CLUSTERS.segment(text.slice(cursor, cursor + LONGEST));
  return cursor + (first?.segment.length ?? 0);
}

function wordStart(input: TextInput): number {
  const start = lineStart(input);
  if (input.cursor === start) return before(input);
  const line = input.text.slice(start, input.cursor).trimEnd();
  return start + Math.max(line.lastIndexOf(' '), line.lastIndexOf('\t')) + 1;
}

const MORE = say('…', 'dim');

/** The part of a text around the cursor that fits `width` cells: a text may be megabytes long. */
export function typedLine({ text, cursor }: TextInput, width: number, tone: Tone = 'plain'): Line {
  const before = cells(text.slice(Math.max(0, cursor - 2 * width), cursor), tone);
  const after = cells(text.slice(cursor, cursor + 2 * width), tone);
  const [at = [say(' ')], ...rest] = after;
  const focus = at.map(span => say(span.text, 'cursor'));
  const isWhole = cursor <= 2 * width && widthOf(before.flat()) + widthOf(focus) + 1 <= width;
  const behind = isWhole ? before : lastOf(before, Math.max(0, Math.floor((width * 2) / 3) - 1));
  const start = isWhole ? behind.flat() : [MORE, ...behind.flat()];
  const room = width - widthOf(start) - widthOf(focus);
  return [...start, ...focus, ...firstOf(rest, cursor + 2 * width < text.length, room)];
}

/** A text without the cursor: its start. */
export function quietLine(text: string, width: number, tone: Tone = 'plain'): Line {
  return firstOf(cells(text.slice(0, 2 * width), tone), text.length > 2 * width, width);
}

/** The graphemes of a text, safe to print. */
function cells(text: string, tone: Tone): readonly Line[] {
  return [...CLUSTERS.segment(text)].map(({ segment }) => quote(segment, tone));
}

function lastOf(all: readonly Line[], width: number): readonly Line[] {
  let left = width;
  const from = all.findLastIndex(cell => {
    left -= widthOf(cell);
    return left < 0;
  });
  return all.slice(from + 1);
}

function firstOf(all: readonly Line[], hasMore: boolean, width: number): Line {
  const whole = all.flat();
  if (!hasMore && widthOf(whole) <= width) return whole;
  let left = width - 1;
  const to = all.findIndex(cell => {
    left -= widthOf(cell);
    return left < 0;
  });
  return width < 1 ? [] : [...all.slice(0, to < 0 ? all.length : to).flat(), MORE];
}

/** Extends the text before the cursor as far as all candidates agree. @param candidates sorted; each begins with that text */
export function completed({ text, cursor }: TextInput, candidates: readonly string[]): TextInput {
  const first = [...(candidates.at(0) ?? '')];
  const last = [...(candidates.at(-1) ?? '')]; // the first and the last of a sorted list agree on what all agree on
  const differs = first.findIndex((character, index) => character !== last[index]);
  const start = first.slice(0, differs < 0 ? first.length : differs).join('');
  if (start.length <= cursor) return { text, cursor };
  return { text: start + text.slice(cursor), cursor: start.length };
}

/** A prompt: our label, then the line that is typed, with its cursor. */
export function promptLine(label: string, typed: TextInput, columns: number): Line {
  return [say(label, 'title'), ...typedLine(typed, Math.max(4, columns - label.length))];
}
