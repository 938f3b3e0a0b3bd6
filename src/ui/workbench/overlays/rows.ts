import { cutLine } from '../../../dress/cut-line.js';
import { dressLine } from '../../../dress/dress.js';
import type { Theme } from '../../../dress/theme.js';
import { quote, say } from '../../../story/spans.js';
import { keyLines } from '../../keys/key-lines.js';
import { pickerRows } from '../../live/picker-rows.js';
import { type Reading, reading, wrapLines } from '../../scrolled-rows.js';
import type { Size } from '../../terminal.js';
import { KEY_TABLES } from '../keys/key-tables.js';
import type { Overlay } from '../state/state.js';
import { shellRows } from './shell-rows.js';

/** Of the height, for what is asked. */
const SHARE = 2 / 3;
const ON_ESCAPE = { question: 'later', consent: 'do not call it' };

/** A page in place of the rest; null where the overlay is none. */
export function overlayPage(overlay: Overlay | null, { columns, rows }: Size, theme: Theme): Reading | null {
  if (overlay?.kind === 'help')
    return reading(wrapLines(keyLines(KEY_TABLES), columns, theme), overlay.scroll, rows, theme);
  return overlay?.kind === 'copied' ? copiedPage(overlay, { columns, rows }, theme) : null;
}

/** What was copied, so that it can be copied by hand. */
function copiedPage(
  { title, text, isShell, scroll }: Extract<Overlay, { kind: 'copied' }>,
  { columns, rows }: Size,
  theme: Theme,
): Reading {
  const head = dressLine(cutLine(title, columns), theme);
  const hint = dressLine(cutLine([say('↑↓ scroll, any other key closes this', 'dim')], columns), theme);
  const lines = isShell ? shellRows(text, columns) : [text];
  const laid = wrapLines(
    lines.map(line => quote(line)),
    columns,
    theme,
  );
  const { rows: seen, most } = reading(laid, scroll, Math.max(1, rows - 4), theme);
  return { rows: [head, '', ...seen, '', hint], most };
}

/** What is asked, below the rest; none where nothing is. */
export function askedRows(overlay: Overlay | null, { columns, rows }: Size, theme: Theme): readonly string[] {
  if (overlay?.kind !== 'question' && overlay?.kind !== 'consent') return [];
  const most = Math.max(4, Math.floor(rows * SHARE));
  const leaving = { onEscape: ON_ESCAPE[overlay.kind], onInterrupt: 'quit' };
  const rule = theme.dim('─'.repeat(columns));
  return [rule, ...pickerRows(overlay.picker, { columns, rows: most - 1 }, theme, leaving)];
}
