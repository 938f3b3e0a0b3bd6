import { type Line, quote, say, type Tone } from '../render/line.js';
import { cutLine, divided, type Theme, wrapLine } from '../render/terminal/theme.js';
import type { Size } from './terminal.js';

/** Two regions of the screen: a list, and what is told of its selected entry. */
export interface Split {
  readonly list: Size;
  readonly details: Size;
  readonly isBeside: boolean;
}

export interface Shares {
  /** From so many columns on both stand beside each other. */
  readonly wide: number;
  /** Of the width, where they do. */
  readonly share: number;
  /** Rows that the list would fill. */
  readonly wanted: number;
  /** Rows that the details fill: what they leave free is the list's. */
  readonly told?: number;
}

const DIVIDER = ' │ ';
/** Rows below which both together would say nothing. */
const ROOMY = 9;
/** Of the height, where the list stands above. */
const ABOVE = 0.45;

export function splitOf({ columns, rows }: Size, { wide, share, wanted, told = rows }: Shares): Split {
  if (columns >= wide) {
    const left = Math.floor(columns * share);
    const right = columns - left - DIVIDER.length;
    return { isBeside: true, list: { columns: left, rows }, details: { columns: right, rows } };
  }
  if (rows < ROOMY) return { isBeside: false, list: { columns, rows }, details: { columns, rows: 0 } };
  const above = Math.min(wanted, Math.max(4, Math.floor(rows * ABOVE), rows - told - 1));
  return {
    isBeside: false,
    list: { columns, rows: above },
    details: { columns, rows: rows - above - 1 },
  };
}

/** Both regions as rows of the whole. */
export function joined(
  { isBeside, list, details }: Split,
  [ofList, ofDetails]: readonly [readonly string[], readonly string[]],
  theme: Theme,
): readonly string[] {
  if (isBeside)
    return divided(ofList, ofDetails, { left: list.columns, divider: theme.dim(DIVIDER), height: list.rows });
  if (details.rows === 0) return filled(ofList, list.rows);
  return [
    ...filled(ofList, list.rows),
    theme.dim('─'.repeat(list.columns)),
    ...filled(ofDetails, details.rows),
  ];
}

/** Exactly so many rows. */
export function filled(rows: readonly string[], height: number): readonly string[] {
  const missing = Math.max(0, height - rows.length);
  return [...rows.slice(0, height), ...Array.from({ length: missing }, () => '')];
}

/** The first seen of a list, so that the selected entry is in the middle, save at either end. */
export function firstSeen(count: number, selected: number, height: number): number {
  return Math.max(0, Math.min(count - height, selected - Math.floor(height / 2)));
}

/** Rows that can be scrolled, as far as they are seen. */
export interface Reading {
  readonly rows: readonly string[];
  /** How far they can be scrolled. */
  readonly most: number;
}

/** As many rows as there is room for, from `scroll` on; the last tells of what is below. */
export function reading(rows: readonly string[], scroll: number, height: number, theme: Theme): Reading {
  const most = Math.max(0, rows.length - height);
  const from = Math.min(scroll, most);
  const seen = rows.slice(from, from + height);
  const below = rows.length - from - height;
  if (below <= 0) return { rows: seen, most };
  const more = theme.dim(`… ${below + 1} more rows`);
  return { rows: [...seen.slice(0, -1), more], most };
}

export function wrapLines(lines: readonly Line[], width: number, theme: Theme): string[] {
  return lines.flatMap(line => wrapLine(line, width, theme));
}

/** Something in a row of several, one of which is chosen. */
export interface Choosable {
  readonly text: string;
  readonly isChosen: boolean;
  /** Cells of its text at most. */
  readonly most?: number;
}

/** Without colour the brackets alone tell. */
export function chosenLine(choices: readonly Choosable[]): Line {
  return choices.flatMap(({ text, isChosen, most = Number.POSITIVE_INFINITY }) =>
    isChosen
      ? [say('[', 'running'), ...cutLine(quote(text, 'title'), most), say('] ', 'running')]
      : [say(' '), ...cutLine(quote(text, 'dim'), most), say('  ')],
  );
}

/** Something that is said for a while. */
export interface Notice {
  readonly lines: readonly Line[];
  /** When it goes by itself, in ms since the start. */
  readonly until: number;
}

/** How long a notice stands that asks for nothing. */
const STANDS_MS = 6_000;

/** What there is to say besides calls: of the mock itself, of keys, of what came that is no call. The latest of each. */
export class Notices {
  readonly #shown = new Map<'mock' | 'key' | 'event', Notice>();

  /** Of the mock: what is bad stands until there is something else to say. */
  mock(text: string, tone: Tone, now: number): void {
    const isBad = tone === 'bad' || tone === 'warn';
    const lines = text.split('\n').map(line => quote(line, tone));
    this.#shown.set('mock', { lines, until: isBad ? Number.POSITIVE_INFINITY : now + STANDS_MS });
  }

  key(text: string, now: number, tone: Tone = 'plain'): Notice {
    const notice = { lines: [quote(text, tone)], until: now + STANDS_MS };
    this.#shown.set('key', notice);
    return notice;
  }

  /** What came with a line, and was no part of it, was not obeyed. */
  leftOut(text: string, now: number): void {
    if (text === '') return;
    const line = [say('Left out, since it came in one piece with the line before: ', 'warn'), ...quote(text)];
    this.event(line, now);
  }

  /** What a key said was about the call that is no longer selected. */
  moved(): void {
    this.#shown.delete('key');
  }

  event(line: Line, now: number): void {
    this.#shown.set('event', { lines: [line], until: now + STANDS_MS });
  }

  lines(now: number): readonly Line[] {
    return this.#standing(now).flatMap(({ lines }) => lines);
  }

  /** Nothing else was said since, and it is to be read still. */
  stands(notice: Notice, now: number): boolean {
    return this.#standing(now).includes(notice);
  }

  /** One of them goes by itself. */
  isPassing(now: number): boolean {
    return this.#standing(now).some(({ until }) => Number.isFinite(until));
  }

  #standing(now: number): readonly Notice[] {
    return [...this.#shown.values()].filter(({ until }) => until > now);
  }
}
