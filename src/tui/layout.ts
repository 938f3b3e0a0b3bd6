import { type Line, quote, say, type Tone } from '../render/line.js';
import { cutLine, divided, type Theme, wrapLine } from '../render/terminal/theme.js';
import type { Size } from './terminal.js';

export function wrapLines(lines: readonly Line[], width: number, theme: Theme): string[] {
  return lines.flatMap(line => wrapLine(line, width, theme));
}

/** Exactly `height` rows. */
export function filled(rows: readonly string[], height: number): readonly string[] {
  const missing = Math.max(0, height - rows.length);
  return [...rows.slice(0, height), ...Array.from({ length: missing }, () => '')];
}

/** A list and the details of its selected entry. A list without rows is hidden. */
export interface Split {
  readonly isBeside: boolean;
  readonly list: Size;
  readonly details: Size;
}

const DIVIDER = ' │ ';
/** With fewer rows the list has the screen to itself. */
const ROOMY = 9;
/** The part of the height for a list above its details. */
const ABOVE = 0.45;

/** Side by side: the list has this share of the columns. */
export function besideSplit({ columns, rows }: Size, share: number): Split {
  const left = Math.floor(columns * share);
  const right = columns - left - DIVIDER.length;
  return { isBeside: true, list: { columns: left, rows }, details: { columns: right, rows } };
}

/** The list above its details. @param wanted the rows of the whole list @param below the most rows of the details */
export function aboveSplit({ columns, rows }: Size, wanted: number, below = rows): Split {
  if (rows < ROOMY) return { isBeside: false, list: { columns, rows }, details: { columns, rows: 0 } };
  const above = Math.min(wanted, Math.max(4, Math.floor(rows * ABOVE), rows - below - 1));
  return { isBeside: false, list: { columns, rows: above }, details: { columns, rows: rows - above - 1 } };
}

/** The rows of both. @param edge between them, if the list is above */
export function joined(
  { isBeside, list, details }: Split,
  listRows: readonly string[],
  detailRows: readonly string[],
  edge: string,
  theme: Theme,
): readonly string[] {
  if (isBeside) {
    const layout = { left: list.columns, divider: theme.dim(DIVIDER), height: list.rows };
    return divided(listRows, detailRows, layout);
  }
  if (list.rows === 0) return filled(detailRows, details.rows);
  if (details.rows === 0) return filled(listRows, list.rows);
  return [...filled(listRows, list.rows), edge, ...filled(detailRows, details.rows)];
}

/** The visible part of rows that can be scrolled. */
export interface Scrolled {
  readonly rows: readonly string[];
  /** How far they can be scrolled. */
  readonly most: number;
}

/** The rows from `scroll` on that fit; the last one says how many are below. */
export function scrolled(rows: readonly string[], scroll: number, height: number, theme: Theme): Scrolled {
  const most = Math.max(0, rows.length - height);
  const from = Math.min(scroll, most);
  const seen = rows.slice(from, from + height);
  const below = rows.length - from - height;
  if (below <= 0) return { rows: seen, most };
  return { rows: [...seen.slice(0, -1), theme.dim(`… ${below + 1} more rows`)], most };
}

/** One of several titles in a row. */
export interface Choice {
  readonly text: string;
  readonly isChosen: boolean;
  /** The most cells of its text. */
  readonly most?: number;
}

/** The chosen one is in brackets: it must be visible without colours too. */
export function choicesLine(choices: readonly Choice[]): Line {
  return choices.flatMap(({ text, isChosen, most = Number.POSITIVE_INFINITY }) =>
    isChosen
      ? [say('[', 'running'), ...cutLine(quote(text, 'title'), most), say('] ', 'running')]
      : [say(' '), ...cutLine(quote(text, 'dim'), most), say('  ')],
  );
}

/** A message that is shown for a while. */
export interface Notice {
  readonly lines: readonly Line[];
  /** When it disappears, in ms since the start. */
  readonly until: number;
}

const SHOWN_MS = 6_000;

/** What there is to say about the server, a key, and events that belong to no call: the latest of each. */
export class Notices {
  readonly #latest = new Map<'server' | 'key' | 'event', Notice>();

  /** Problems stay until the next notice about the server. */
  server(text: string, tone: Tone, now: number): void {
    const lines = text.split('\n').map(line => quote(line, tone));
    this.#latest.set('server', { lines, until: tone === 'bad' ? Number.POSITIVE_INFINITY : now + SHOWN_MS });
  }

  key(text: string, now: number, tone: Tone = 'plain'): Notice {
    const notice = { lines: [quote(text, tone)], until: now + SHOWN_MS };
    this.#latest.set('key', notice);
    return notice;
  }

  event(line: Line, now: number): void {
    this.#latest.set('event', { lines: [line], until: now + SHOWN_MS });
  }

  /** Another key makes the notice about the last one obsolete. */
  forgetKey(): void {
    this.#latest.delete('key');
  }

  lines(now: number): readonly Line[] {
    return this.#current(now).flatMap(({ lines }) => lines);
  }

  isShown(notice: Notice, now: number): boolean {
    return this.#current(now).includes(notice);
  }

  /** Whether a notice disappears after a while. */
  isPassing(now: number): boolean {
    return this.#current(now).some(({ until }) => Number.isFinite(until));
  }

  #current(now: number): readonly Notice[] {
    return [...this.#latest.values()].filter(({ until }) => until > now);
  }
}
