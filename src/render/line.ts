import { formatDuration } from '../util/text.js';
import { visibleRuns } from '../util/visible.js';
import type { Highlighter } from './syntax.js';
import type { Role } from './syntax-lexers.js';

/**
 * The meaning of a text; a theme decides how it looks. The text of a span is always safe to print: untrusted text goes through {@link
 * quote}.
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
  | 'match' // a search match
  | 'selected' // the selected row of a list
  | 'gutter'
  | 'cursor' // the character under the cursor
  | 'divider' // separates a line into two halves of equal width
  | 'hunk'
  | 'added'
  | 'removed'
  | Role;

/** The background of a part of a diff: a changed row, or the changed words in it. */
export type Ground = 'added' | 'removed' | 'added-word' | 'removed-word';

export interface Span {
  readonly text: string;
  readonly tone: Tone;
  readonly ground?: Ground;
}

export type Line = readonly Span[];

const JSON_TOKENS = /("(?:[^"\\]|\\.)*"?)(\s*:)?|-?\d[\d.eE+-]*|true|false|null/g;

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

/** A span of trusted text. */
export function say(text: string, tone: Tone = 'plain'): Span {
  return { text, tone };
}

/** A line whose plain text is a title. */
export function titleLine(line: Line): Line {
  return line.map(span => (span.tone === 'plain' ? say(span.text, 'title') : span));
}

/** The marks before a step, or before the state of a call. */
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

export function withMark(mark: Mark, words: Line): Line {
  return [MARKS[mark], say(' '), ...words];
}

/** Untrusted text, made safe to print on one line. */
export function quote(text: string, tone: Tone = 'plain'): Line {
  return visibleRuns(text).map(run => ({
    text: run.text.replaceAll('\n', '␊'),
    tone: run.isReplaced ? 'hidden' : tone,
  }));
}

/** Untrusted text on one line, shortened: a name may have ten megabytes. */
export function clipped(text: string, tone: Tone = 'plain', max = 300): Line {
  if (text.length <= max) return quote(text, tone);
  return [...quote(text.slice(0, max), tone), say(`… ${text.length - max} more characters`, 'dim')];
}

type Part = Line | Span | string | number | false | null | undefined;

/** A template tag for trusted text with spans between; a string among the parts is untrusted, and clipped. */
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
export function pluralize(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** ` after 1.2s`, dim. */
export function took(milliseconds: number, word = 'after'): Span {
  return say(` ${word} ${formatDuration(Math.max(0, milliseconds))}`, 'dim');
}

/** Width of the times in the margin of a timeline, in cells. */
export const TIME_MARGIN = 8;

/** A line of a timeline. @param at its time in the margin, in ms */
export function timedLine(at: number, words: Line): Line {
  return [say(`${formatDuration(at).padStart(TIME_MARGIN)} `, 'gutter'), ...words];
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

/** A duration of constant width, so that columns do not move. */
export function runningClock(milliseconds: number): Span {
  const step = milliseconds < 60_000 ? 100 : milliseconds < 3_600_000 ? 1_000 : 60_000;
  const shown = Math.max(0, Math.floor(milliseconds / step) * step);
  return say(` ${formatDuration(shown).padEnd('59m 59s'.length)}`, 'dim');
}

/** Minimum width for the old and the new side of a diff side by side, in cells. */
export const SPLIT_FROM = 120;

/** The width of a pipe, which gets lines as they are; only a longer line continues on the next one, since it is never held whole. */
export const UNWRAPPED = 64 * 1024;

/** The number of lines to draw, and their layout. */
export interface Layout {
  readonly count: number;
  /** Width in cells; see {@link SPLIT_FROM}. */
  readonly width?: number;
  /** Shows all unchanged lines of a diff. */
  readonly isUnfolded?: boolean;
  /** Without a highlighter, code has no colours. */
  readonly highlighter?: Highlighter | null;
}

/** Maximum length of a line, in characters: terminals are slow with longer ones. */
const MAX_LINE = 4_000;

/** The first lines of a text, safe to print, and the total number of lines. A text may have 50 MiB, so it is never split whole. */
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

/** Splits a line at its divider; a line without one is a single half. */
export function halvesOf(line: Line): {
  readonly halves: readonly Line[];
  readonly divider: Span | undefined;
} {
  const at = line.findIndex(({ tone }) => tone === 'divider');
  return at < 0
    ? { halves: [line], divider: undefined }
    : { halves: [line.slice(0, at), line.slice(at + 1)], divider: line[at] };
}

/** Changes each half of a line. */
export function withHalves(line: Line, change: (half: Line, index: number) => Line): Line {
  const { halves, divider } = halvesOf(line);
  return halves.flatMap((half, index) =>
    index > 0 && divider ? [divider, ...change(half, index)] : change(half, index),
  );
}

/** Splits a half after its gutter (numbers and a sign). */
export function partsOfHalf(half: Line): { readonly gutter: Line; readonly body: Line } {
  const start = half.findLastIndex(({ tone }) => tone === 'gutter') + 1;
  return { gutter: half.slice(0, start), body: half.slice(start) };
}

/** A line without secrets. Text loses its tones if a secret extends over several spans. */
export function redactLine(line: Line, redact: (text: string) => string): Line {
  return withHalves(line, half => {
    const { gutter, body } = partsOfHalf(half);
    return [...redactSpans(gutter, redact), ...redactSpans(body, redact)];
  });
}

function redactSpans(spans: Line, redact: (text: string) => string): Line {
  const [first] = spans;
  const text = lineText(spans);
  const clean = redact(text);
  if (first === undefined || clean === text) return spans;
  const each = spans.map(span => ({ ...span, text: redact(span.text) }));
  return lineText(each) === clean ? each : [{ ...first, tone: 'plain', text: clean }];
}

/** The direction of a line of the driver protocol. */
export const DRIVER_ARROWS = { check: '←', runtime: '→' };
