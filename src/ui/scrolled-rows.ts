import { wrapLine } from '../dress/dress.js';
import type { Theme } from '../dress/theme.js';
import type { ToolCall } from '../exchange/tool-call.js';
import type { Line } from '../story/line.js';
import { say } from '../story/spans.js';
import { detailLines } from '../story/tool-calls/index.js';

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

/** Lays out the details of calls; the last one stays laid out, since most frames show the same. */
export class Details {
  #call: ToolCall | undefined;
  #width = 0;
  #rows: readonly string[] = [];

  constructor(private readonly theme: Theme) {}

  rowsOf(call: ToolCall | undefined, width: number): readonly string[] {
    if (call === this.#call && width === this.#width) return this.#rows;
    this.#call = call;
    this.#width = width;
    this.#rows = wrapLines(call ? detailLines(call) : NOTHING, width, this.theme);
    return this.#rows;
  }
}

const NOTHING: readonly Line[] = [[say('Details of the selected call stand here.', 'dim')]];

export function wrapLines(lines: readonly Line[], width: number, theme: Theme): string[] {
  return lines.flatMap(line => wrapLine(line, width, theme));
}
