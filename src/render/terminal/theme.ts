import { Chalk } from 'chalk';
import { commandsIn, replacementOf } from '../../util/visible.js';
import { type Ground, type Line, lineText, type Span, type Tone } from '../line.js';
import type { ColourLevel } from './colour-level.js';

/** The look of a text. A colour is one of the terminal's 16 by name, `#rrggbb`, or `ansi256(n)`. */
export interface Style {
  readonly color?: string;
  readonly background?: string;
  readonly isBold?: true;
  readonly isDim?: true;
  readonly isUnderlined?: true;
  readonly isInverse?: true;
}

export interface Palette {
  readonly tones: Readonly<Record<Tone, Style>>;
  readonly grounds: Readonly<Record<Ground, Style>>;
  /** The colours of text on the background of a changed row; null if changed rows have no background. */
  readonly inks: Readonly<Partial<Record<Tone, string>>> | null;
}

/** Text uses the 16 colours of the user's terminal, so it is readable on dark and on light backgrounds. */
const TONES: Palette['tones'] = {
  plain: {},
  title: { isBold: true },
  dim: { isDim: true },
  good: { color: 'green' },
  bad: { color: 'red' },
  warn: { color: 'yellow' },
  running: { color: 'cyan' },
  hidden: { isInverse: true },
  selected: { isInverse: true },
  match: { isInverse: true },
  cursor: { isInverse: true },
  gutter: { isDim: true },
  divider: { isDim: true },
  hunk: { color: 'cyan' },
  added: { color: 'green' },
  removed: { color: 'red' },
  keyword: { color: 'magenta' },
  string: { color: 'yellow' },
  number: { color: 'cyan' },
  comment: { isDim: true },
  type: { color: 'cyan' },
  function: { color: 'blue' },
  name: { color: 'blue' },
};

const FOREGROUNDS: Palette['grounds'] = {
  added: { color: 'green' },
  removed: { color: 'red' },
  'added-word': { color: 'green', isBold: true, isUnderlined: true },
  'removed-word': { color: 'red', isBold: true, isUnderlined: true },
};

const INK = 'ansi256(255)';

const BACKGROUNDS: Palette['grounds'] = {
  added: { color: INK, background: 'ansi256(22)' },
  removed: { color: INK, background: 'ansi256(52)' },
  'added-word': { color: INK, background: 'ansi256(28)' },
  'removed-word': { color: INK, background: 'ansi256(124)' },
};

/** With more than 16 colours, changed rows have a fixed background and foreground. */
export function paletteOf(level: ColourLevel): Palette {
  if (level < 2) return { tones: TONES, grounds: FOREGROUNDS, inks: null };
  return {
    tones: TONES,
    grounds: BACKGROUNDS,
    inks: {
      dim: 'ansi256(250)',
      keyword: 'ansi256(213)',
      string: 'ansi256(222)',
      number: 'ansi256(159)',
      comment: 'ansi256(250)',
      type: 'ansi256(123)',
      function: 'ansi256(117)',
      name: 'ansi256(195)',
    },
  };
}

/** Hidden characters and matches look the same on every background. */
export function styleOf({ tone, ground }: Omit<Span, 'text'>, { tones, grounds, inks }: Palette): Style {
  if (ground === undefined || tone === 'hidden' || tone === 'match') return tones[tone];
  const ink = inks?.[tone];
  return ink === undefined ? grounds[ground] : { ...grounds[ground], color: ink };
}

/** How lines are printed. The lines of a screen are drawn by `tui/components/Line.tsx`. */
export interface Theme {
  readonly palette: Palette;
  readonly paint: (span: Span) => string;
}

/** Matches and the cursor are visible even without colours. */
const INVERSE = new Chalk({ level: 1 }).inverse;

export function createTheme(level: ColourLevel): Theme {
  const chalk = new Chalk({ level });
  const palette = paletteOf(level);
  const colour = (text: string, value: string, isBackground: boolean) => {
    const [, index] = /^ansi256\((\d+)\)$/.exec(value) ?? [];
    if (index !== undefined)
      return isBackground ? chalk.bgAnsi256(Number(index))(text) : chalk.ansi256(Number(index))(text);
    if (value.startsWith('#')) return isBackground ? chalk.bgHex(value)(text) : chalk.hex(value)(text);
    return chalk[value as 'red'](text);
  };
  return {
    palette,
    paint(span) {
      if (span.tone === 'match' || span.tone === 'cursor') return INVERSE(span.text);
      const { color, background, isBold, isDim, isUnderlined, isInverse } = styleOf(span, palette);
      let { text } = span;
      if (isUnderlined) text = chalk.underline(text);
      if (isBold) text = chalk.bold(text);
      if (isDim) text = chalk.dim(text);
      if (isInverse) text = chalk.inverse(text);
      if (color !== undefined) text = colour(text, color, false);
      if (background !== undefined) text = colour(text, background, true);
      return text;
    },
  };
}

/** Every row that people see is styled here, so no row starts a CI command (threats, row 32). */
export function styleLine(line: Line, theme: Theme): string {
  return withoutCommands(line).map(theme.paint).join('');
}

/** Replaces the beginning of CI commands that only spans together form (threats, row 32); `quote` sees one text at a time. */
export function withoutCommands(line: Line): Line {
  const offsets = commandsIn(lineText(line));
  if (offsets.length === 0) return line;
  let start = 0;
  return line.flatMap(span => {
    const { text } = span;
    const pieces: Span[] = [];
    let from = 0;
    for (const at of offsets.map(offset => offset - start)) {
      if (at < 0 || at >= text.length) continue;
      const shown = replacementOf(text.charAt(at));
      pieces.push({ ...span, text: text.slice(from, at) }, { ...span, text: shown, tone: 'hidden' });
      from = at + 1;
    }
    start += text.length;
    return [...pieces, { ...span, text: text.slice(from) }].filter(piece => piece.text !== '');
  });
}
