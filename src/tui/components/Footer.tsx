import { hintsLine } from '../keys.js';
import type { FooterHints, ScreenLayout } from '../screen/layout.js';
import type { ScreenState } from '../screen/state.js';
import { Line } from './Line.js';
import { Prompt } from './Prompt.js';

const PAGE_HINTS: FooterHints = {
  hints: [['↑↓ PgUp PgDn', 'scroll']],
  ends: [
    ['Esc', 'close'],
    ['Ctrl-C', 'quit'],
  ],
};

const HELP_HINTS: FooterHints = { ...PAGE_HINTS, hints: [...PAGE_HINTS.hints, ['/', 'filter']] };

interface FooterProps {
  readonly state: ScreenState<unknown>;
  readonly layout: ScreenLayout;
  /** The keys of the screen. */
  readonly hints: FooterHints;
}

/** What the user types, the keys of what covers the screen, or those of the screen. */
export function Footer({ state, layout, hints }: FooterProps) {
  const { overlay, size } = state;
  const { columns } = size;
  if (layout.question) return <Line line={layout.question.keys} width={columns} />;
  if (overlay?.kind === 'prompt')
    return <Prompt label={overlay.label} input={overlay.input} width={columns} />;
  if (overlay?.kind === 'help' && overlay.filter)
    return <Prompt label="Filter: " input={overlay.filter} width={columns} />;
  const shown = overlay?.kind === 'help' ? HELP_HINTS : overlay ? PAGE_HINTS : hints;
  return <Line line={hintsLine(shown.hints, shown.ends, columns)} width={columns} />;
}
