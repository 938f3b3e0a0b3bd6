import { LazySegmenter } from '../../../dress/lazy-segmenter.js';

/** A text and where in it one types: in front of the UTF-16 unit at `cursor`. */
export interface Typing {
  readonly text: string;
  readonly cursor: number;
}

export type TypingCommand = 'left' | 'right' | 'home' | 'end' | 'erase' | 'eraseWord' | 'eraseLine';

/** Longer clusters are gone through in pieces. */
const LONGEST = 64;
const CLUSTERS = new LazySegmenter();

export function insert({ text, cursor }: Typing, piece: string): Typing {
  return { text: text.slice(0, cursor) + piece + text.slice(cursor), cursor: cursor + piece.length };
}

/** Moves by what a person sees as one character; home, end and what erases keep to the line. */
export function stepTyping(typing: Typing, command: TypingCommand): Typing {
  const { text, cursor } = typing;
  switch (command) {
    case 'left':
      return { text, cursor: before(typing) };
    case 'right':
      return { text, cursor: after(typing) };
    case 'home':
      return { text, cursor: lineStart(typing) };
    case 'end':
      return { text, cursor: lineEnd(typing) };
    case 'erase':
      return eraseFrom(typing, before(typing));
    case 'eraseWord':
      return eraseFrom(typing, wordStart(typing));
    case 'eraseLine':
      return eraseFrom(typing, cursor === lineStart(typing) ? before(typing) : lineStart(typing));
  }
}

function eraseFrom({ text, cursor }: Typing, from: number): Typing {
  return { text: text.slice(0, from) + text.slice(cursor), cursor: from };
}

function before({ text, cursor }: Typing): number {
  const start = Math.max(0, cursor - LONGEST);
  const last = [...CLUSTERS.segment(text.slice(start, cursor))].at(-1);
  return cursor - (last?.segment.length ?? 0);
}

function after({ text, cursor }: Typing): number {
  const [first] = CLUSTERS.segment(text.slice(cursor, cursor + LONGEST));
  return cursor + (first?.segment.length ?? 0);
}

function wordStart({ text, cursor }: Typing): number {
  const start = lineStart({ text, cursor });
  const blankless = text.slice(start, cursor).trimEnd();
  const word = Math.max(blankless.lastIndexOf(' '), blankless.lastIndexOf('\t'));
  return cursor === start ? before({ text, cursor }) : start + word + 1;
}

export function lineStart({ text, cursor }: Typing): number {
  return cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1;
}

export function lineEnd({ text, cursor }: Typing): number {
  const end = text.indexOf('\n', cursor);
  return end < 0 ? text.length : end;
}

const COMMANDS: readonly unknown[] = ['left', 'right', 'home', 'end', 'erase', 'eraseWord', 'eraseLine'];

export function isTyping(command: unknown): command is TypingCommand {
  return COMMANDS.includes(command);
}
