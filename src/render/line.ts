import type { Highlighter } from '../display/syntax.js';
import type { Role } from '../display/syntax-lexers.js';
import { formatDuration } from '../util/text.js';
import { visibleRuns } from '../util/visible.js';

/**
 * What a piece of text is; a theme decides how that looks. Text in a span is always safe to print: foreign text enters through
 * {@link quote}.
 */
export type Tone =
  | 'plain'
  | 'title'
  | 'dim'
  | 'good'
  | 'bad'
  | 'warn'
  | 'running'
  | 'hidden' // a control or invisible character, shown as a picture
  | 'match' // what was searched for
  | 'selected' // the selected row of a list
  | 'gutter'
  | 'cursor' // the character in front of which typing goes
  | 'divider' // separates a line into halves, each of which has its own half of the width
  | 'hunk'
  | 'added'
  | 'removed'
  | Role;

/** The background of a piece of a diff: a changed row, or the changed words in it. */
export type Ground = 'added' | 'removed' | 'added-word' | 'removed-word';

export interface Span {
  readonly text: string;
  readonly tone: Tone;
  readonly ground?: Ground;
}

export type Line = readonly Span[];

const JSON_TOKENS = /("(?:[^"\\\\]|\\\\.)*"?)(\s*:)?|-?\d[\d.eE+-]*|true|false|null/g;

/** A line of indented JSON with the colours of its tokens. */
export function jsonLine(line: Line): Line {
  return line.flatMap(span => (span.tone === 'plain' ? jsonSpans(span.text) : [span]));
}

function jsonSpans(text: string): Line {
  const spans: Span[] = [];
  let end = 0;
  for (const { 0: token, 1: string, 2: colon = '', index } of text.matchAll(JSON_TOKENS)) {
    const tone = string === undefined ? 'number' : colon === '' ? 'string' : 'name';
    const word = string ?? token;
    spans.push(say(text.slice(end, index)), say(word, tone));
    end = index + word.length;
  }
  return [...spans, say(text.slice(end))].filter(span => span.text !== '');
}

/** Our own words. */
export function say(text: string, tone: Tone = 'plain'): Span {
  return { text, tone };
}

/** What stands before a line of a story, or before the state of a call. */
export const MARKS = {
  done: say('✓', 'good'),
  failed: say('✗', 'bad'),
  note: say('•', 'warn'),
  aside: say('•', 'dim'),
  warning: say('!', 'warn'),
  asking: say('?', 'warn'),
  running: say('…', 'running'),
  received: say('→', 'running'),
} as const satisfies Readonly<Record<string, Span>>;

export type Mark = keyof typeof MARKS;

export function marked(mark: Mark, words: Line): Line {
  return [MARKS[mark], say(' '), ...words];
}

/** Foreign words, safe to print, on one line. */
export function quote(text: string, tone: Tone = 'plain'): Line {
  return visibleRuns(text).map(run => ({
    text: run.text.replaceAll('\n', '␊'),
    tone: run.hidden ? 'hidden' : tone,
  }));
}

/** Foreign words on one line, of a length that a person reads: a name may have ten megabytes. */
export function clipped(text: string, tone: Tone = 'plain', most = 300): Line {
  if (text.length <= most) return quote(text, tone);
  return [...quote(text.slice(0, most), tone), say(`… ${text.length - most} more characters`, 'dim')];
}

type Part = Line | Span | string | number | false | null | undefined;

/** A line of our own words with parts between them; a text among the parts is foreign, and clipped. */
export function line(words: TemplateStringsArray, ...parts: readonly Part[]): Line {
  return words.flatMap((text, index) => [...(text === '' ? [] : [say(text)]), ...spansOf(parts[index])]);
}

function spansOf(part: Part): Line {
  if (part === undefined || part === null || part === false) return [];
  if (typeof part === 'number') return [say(String(part))];
  if (typeof part === 'string') return clipped(part);
  return 'text' in part ? [part] : part;
}

export function lineText(words: Line): string {
  return words.map(({ text }) => text).join('');
}

/** `1 call`, `2 calls`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** ` after 1.2s`, dim. */
export function took(milliseconds: number, word = 'after'): Span {
  return say(` ${word} ${formatDuration(Math.max(0, milliseconds))}`, 'dim');
}

/** Width of labels in a list of details. */
const LABEL = 10;

export function labelled(label: string, ...spans: Line): Line {
  return [say(label.padEnd(LABEL), 'gutter'), ...spans];
}

/** Time since the start for the margin of a list or a log: `0:01.2`, `12:03.4`, `1:02:03.4`. */
export function elapsed(milliseconds: number): string {
  const tenths = Math.floor(milliseconds / 100);
  const two = (number: number) => String(Math.floor(number)).padStart(2, '0');
  const [hours, minutes] = [Math.floor(tenths / 36_000), Math.floor(tenths / 600) % 60];
  const rest = `${two((tenths / 10) % 60)}.${tenths % 10}`;
  return hours > 0 ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
}

/** How long something has been going on; its width does not change, so that columns do not move. */
export function runningClock(milliseconds: number): Span {
  const step = milliseconds < 60_000 ? 100 : milliseconds < 3_600_000 ? 1_000 : 60_000;
  const shown = Math.max(0, Math.floor(milliseconds / step) * step);
  return say(` ${formatDuration(shown).padEnd('59m 59s'.length)}`, 'dim');
}

/** Which lines of a drawing are wanted, and how they are laid out. */
export interface Layout {
  readonly count: number;
  /** Cells of a line: from 120 on the old and the new side of a diff are beside each other. */
  readonly width?: number;
  /** All unchanged lines of a diff are wanted. */
  readonly isUnfolded?: boolean;
  /** Without one, code has no colours. */
  readonly highlighter?: Highlighter | null;
}

/** Characters of a line that are shown; a terminal would choke on more. */
const MAX_LINE = 4_000;

/** The first lines of a text, safe to print, and how many it has. The text, which may have 50 MiB, is never split whole. */
export function textLines(
  text: string,
  count: number,
): { readonly lines: readonly Line[]; readonly total: number } {
  const lines: Line[] = [];
  let total = 0;
  for (let start = 0; start < text.length || total === 0; total++) {
    const feed = text.indexOf('\n', start);
    const end = feed < 0 ? text.length : feed;
    if (lines.length < count) {
      const rest = end - start - MAX_LINE;
      const shown = quote(text.slice(start, Math.min(end, start + MAX_LINE)));
      lines.push(rest > 0 ? [...shown, say(` … ${rest} more characters`, 'dim')] : shown);
    }
    start = end + 1;
  }
  return { lines, total };
}

/** A line in the halves on both sides of its divider; a line without one is a single half. */
export function halvesOf(line: Line): {
  readonly halves: readonly Line[];
  readonly divider: Span | undefined;
} {
  const at = line.findIndex(({ tone }) => tone === 'divider');
  return at < 0
    ? { halves: [line], divider: undefined }
    : { halves: [line.slice(0, at), line.slice(at + 1)], divider: line[at] };
}

/** The same line with each half changed. */
export function withHalves(line: Line, change: (half: Line, index: number) => Line): Line {
  const { halves, divider } = halvesOf(line);
  return halves.flatMap((half, index) =>
    index > 0 && divider ? [divider, ...change(half, index)] : change(half, index),
  );
}

/** A half in its gutter (up to the last gutter span: numbers, a sign) and what follows it. */
export function partsOfHalf(half: Line): { readonly gutter: Line; readonly body: Line } {
  const start = half.findLastIndex(({ tone }) => tone === 'gutter') + 1;
  return { gutter: half.slice(0, start), body: half.slice(start) };
}
