import type { Highlighter, Role } from '../display/syntax.js';
import type { ToolCall } from '../events/tool-call.js';
import { formatDuration } from '../util/format-duration.js';
import { visibleRuns } from '../util/visible.js';

/**
 * Lines with meaning. The story says *what* a piece of text is; `dress/` decides how that looks.
 * Text in a span is always safe to print: foreign text enters through `text/visible`.
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
  | 'gutter'
  | 'cursor' // the character that typing goes in front of
  | 'divider' // parts a line into halves, each of which keeps to its own half of the width
  | 'hunk'
  | 'added'
  | 'removed'
  | Role;

/** What a piece of a diff stands on, whatever it is: a row that was changed, or the words in it that were. */
export type Ground = 'added' | 'removed' | 'added-word' | 'removed-word';

export interface Span {
  readonly text: string;
  readonly tone: Tone;
  readonly ground?: Ground;
}

export type Line = readonly Span[];

/** Our own words. */
export function say(text: string, tone: Tone = 'plain'): Span {
  return { text, tone };
}

/** Foreign words, safe to print, on one line. */
export function quote(text: string, tone: Tone = 'plain'): Line {
  return visibleRuns(text).map(run => ({
    text: run.text.replaceAll('\n', '␊'),
    tone: run.hidden ? 'hidden' : tone,
  }));
}

/** For how long something goes on, as wide however short that is to write: columns stand still. */
export function runningClock(milliseconds: number): Span {
  const step = STEPS.find(({ below }) => milliseconds < below)?.step ?? MINUTE;
  const shown = Math.max(0, Math.floor(milliseconds / step) * step);
  return say(` ${formatDuration(shown).padEnd(WIDTH)}`, 'dim');
}

const MINUTE = 60_000;
const STEPS = [
  { below: MINUTE, step: 100 },
  { below: 60 * MINUTE, step: 1_000 },
];
/** Cells of `59m 59s`. */
const WIDTH = 7;

/** Which lines of a drawing are wanted, and how they are to be laid out. */
export interface Layout {
  /** The first of them, 0-based; 0 unless told. */
  readonly from?: number;
  readonly count: number;
  /** Cells of a line: from 120 on a diff has its old and its new side beside each other. */
  readonly width?: number;
  /** Every unchanged line of a diff too. */
  readonly isUnfolded?: boolean;
  /** Without one, code is plain. */
  readonly highlighter?: Highlighter | null;
}

export interface Window {
  readonly lines: readonly Line[];
  /** How many of the first lines say where the rest is from; in the whole they stand further up. */
  readonly sticky?: number;
  /** How many lines there are in all. */
  readonly total: number;
}

/** A longer line is cut for the eye; nobody reads on, and a terminal would choke. */
const MAX_LINE = 4_000;

/**
 * At most `count` lines of a text, safe to print. The text is never split whole: it may be 50 MiB.
 * @param from the first of them, 0-based
 */
export function textLines(text: string, count: number, from = 0): Window {
  const lines: Line[] = [];
  let total = 0;
  let start = 0;
  const take = (end: number) => {
    if (total >= from && lines.length < count) lines.push(shown(text.slice(start, end)));
    total++;
  };
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
    take(end);
    start = end + 1;
  }
  if (start < text.length || total === 0) take(text.length);
  return { lines, total };
}

function shown(line: string): Line {
  if (line.length <= MAX_LINE) return quote(line);
  return [...quote(line.slice(0, MAX_LINE)), say(` … ${line.length - MAX_LINE} more characters`, 'dim')];
}

/** A line in the halves on both sides of its divider; one without is a single half. */
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

/** A half in its gutter (up to the last gutter span: numbers, a sign) and what comes after it. */
export function partsOfHalf(half: Line): { readonly gutter: Line; readonly body: Line } {
  const start = half.findLastIndex(({ tone }) => tone === 'gutter') + 1;
  return { gutter: half.slice(0, start), body: half.slice(start) };
}

/** Foreign words on one line, of a length that a person reads: a name may be ten megabytes long. */
export function clipped(text: string, tone: Tone = 'plain', most = 300): Line {
  if (text.length <= most) return quote(text, tone);
  return [...quote(text.slice(0, most), tone), say(`… ${text.length - most} more characters`, 'dim')];
}

/** What a call asks for; of a malformed one nobody knows. */
export function operationOf({ invocation }: ToolCall, tone: Tone = 'plain'): Line {
  return invocation ? clipped(invocation.operation, tone) : [say('malformed', 'bad')];
}

/** Which call it is: its operation, its id, its thread. That it is malformed is told by what follows. */
export function callName(call: ToolCall): Line {
  const { id = '', group_id = '' } = call.addressee ?? {};
  return [
    ...(call.invocation ? operationOf(call, 'title') : [say('a call', 'title')]),
    ...(id ? [say(' '), ...clipped(id)] : []),
    ...(group_id ? [say(' (', 'dim'), ...clipped(group_id, 'dim'), say(')', 'dim')] : []),
  ];
}
