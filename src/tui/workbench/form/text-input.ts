import { LazySegmenter } from '../../../render/terminal/lazy-segmenter.js';

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
