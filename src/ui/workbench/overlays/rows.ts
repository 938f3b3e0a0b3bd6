import { cutLine } from '../../../dress/cut-line.js';
import { dressLine } from '../../../dress/dress.js';
import type { Theme } from '../../../dress/theme.js';
import { quote } from '../../../story/spans.js';
import { Memo } from '../../../text/memo.js';
import { keyLines } from '../../keys/key-lines.js';
import { type Asked, askedIn } from '../../live/picker-rows.js';
import { type Reading, reading, wrapLines } from '../../scrolled-rows.js';
import type { Size } from '../../terminal.js';
import type { Place } from '../keys/bindings.js';
import { keyTables } from '../keys/key-tables.js';
import { placesOf } from '../keys/places.js';
import type { Overlay, State } from '../state/state.js';
import { shellRows } from './shell-rows.js';

type Of<Kind extends Overlay['kind']> = Extract<Overlay, { kind: Kind }>;

/** Of the height, for what is asked. */
const SHARE = 2 / 3;
const ON_ESCAPE = { question: 'later', consent: 'do not call it' };

/** Lays out pages that stand in place of the rest; the last one stays laid out, since most frames show the same. */
export class OverlayPages {
  readonly #wrapped = new Memo<readonly string[]>();

  constructor(private readonly theme: Theme) {}

  /** Null where the overlay is no page. */
  pageOf(state: State, size: Size): Reading | null {
    const { overlay } = state;
    if (overlay?.kind === 'help') return this.#helpPage(placesOf(state), overlay, size);
    return overlay?.kind === 'copied' ? this.#copiedPage(overlay, size) : null;
  }

  /** Begins with the keys of where one is. */
  #helpPage(places: readonly Place[], { scroll }: Of<'help'>, { columns, rows }: Size): Reading {
    const keys = () => keyLines(keyTables(places));
    const laid = this.#wrapped.of([places.join(), columns], () => wrapLines(keys(), columns, this.theme));
    return reading(laid, scroll, rows, this.theme);
  }

  /** What was copied, so that it can be copied by hand. */
  #copiedPage({ title, text, isShell, scroll }: Of<'copied'>, { columns, rows }: Size): Reading {
    const head = dressLine(cutLine(title, columns), this.theme);
    const lines = () => (isShell ? shellRows(text, columns) : [text]).map(line => quote(line));
    const laid = this.#wrapped.of([text, isShell, columns], () => wrapLines(lines(), columns, this.theme));
    const { rows: seen, most } = reading(laid, scroll, Math.max(1, rows - 2), this.theme);
    return { rows: [head, '', ...seen], most };
  }
}

/** What is asked, below the rest; null where nothing is. */
export function askedBy(overlay: Overlay | null, { columns, rows }: Size, theme: Theme): Asked | null {
  if (overlay?.kind !== 'question' && overlay?.kind !== 'consent') return null;
  const most = Math.max(4, Math.floor(rows * SHARE));
  const leaving = { onEscape: ON_ESCAPE[overlay.kind], onInterrupt: 'quit' };
  const rule = theme.dim('─'.repeat(columns));
  const asked = askedIn({ columns, rows: most - 1 }, overlay.picker, theme, leaving);
  return { ...asked, rows: [rule, ...asked.rows] };
}
