import { Chalk } from 'chalk';
import { commandsIn } from '../../util/ci-commands.js';
import { replacementOf } from '../../util/visible.js';
import { type Ground, type Line, lineText, type Span, type Tone } from '../line.js';
import type { Background } from './background.js';
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

/** The colours that the terminal can show. */
export interface Colours {
  readonly level: ColourLevel;
  /** Default: dark. */
  readonly background?: Background | undefined;
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

type Inks = NonNullable<Palette['inks']>;

/** Changed rows have a tint, changed words a strong one. The colours of text on them are fixed, since the terminal's own may be anything. */
interface Tints {
  readonly plain: string;
  readonly inks: Inks;
  readonly by256: Readonly<Record<Ground, string>>;
  readonly byRgb: Readonly<Record<Ground, string>>;
}

const TINTS: Readonly<Record<Background, Tints>> = {
  dark: {
    plain: 'ansi256(231)',
    inks: {
      dim: 'ansi256(252)',
      keyword: 'ansi256(225)',
      string: 'ansi256(229)',
      number: 'ansi256(159)',
      comment: 'ansi256(252)',
      type: 'ansi256(123)',
      function: 'ansi256(153)',
      name: 'ansi256(195)',
    },
    by256: {
      added: 'ansi256(22)',
      removed: 'ansi256(52)',
      'added-word': 'ansi256(28)',
      'removed-word': 'ansi256(124)',
    },
    byRgb: { added: '#12331f', removed: '#3f1519', 'added-word': '#1a5e33', 'removed-word': '#862430' },
  },
  light: {
    plain: 'ansi256(234)',
    inks: {
      dim: 'ansi256(239)',
      keyword: 'ansi256(90)',
      string: 'ansi256(58)',
      number: 'ansi256(24)',
      comment: 'ansi256(239)',
      type: 'ansi256(23)',
      function: 'ansi256(19)',
      name: 'ansi256(18)',
    },
    by256: {
      added: 'ansi256(194)',
      removed: 'ansi256(224)',
      'added-word': 'ansi256(157)',
      'removed-word': 'ansi256(217)',
    },
    byRgb: { added: '#e0fbe4', removed: '#ffe6e4', 'added-word': '#a6ecb0', 'removed-word': '#ffc6c2' },
  },
};

/** What lines are printed with. A palette has only colours that the terminal can show. */
export function paletteOf(level: ColourLevel, background: Background = 'dark'): Palette {
  if (level === 0) return UNSTYLED;
  if (level === 1) return { tones: TONES, grounds: FOREGROUNDS, inks: null };
  const { plain: color, inks, by256, byRgb } = TINTS[background];
  const tints = level === 3 ? byRgb : by256;
  return { tones: TONES, grounds: mapStyles(tints, tint => ({ color, background: tint })), inks };
}

/** What a screen is drawn with: without colours, bold, dim, underlined and inverse text stays. */
export function screenPaletteOf(level: ColourLevel, background?: Background): Palette {
  return level === 0 ? COLOURLESS : paletteOf(level, background);
}

function mapStyles<Name extends string, Value>(
  values: Readonly<Record<Name, Value>>,
  change: (value: Value, name: Name) => Style,
): Record<Name, Style> {
  const names = Object.keys(values) as Name[];
  return Object.fromEntries(names.map(name => [name, change(values[name], name)])) as Record<Name, Style>;
}

/** Matches and the cursor are visible even in plain text. */
const UNSTYLED: Palette = {
  tones: mapStyles(TONES, (style, tone) => (tone === 'match' || tone === 'cursor' ? style : {})),
  grounds: mapStyles(FOREGROUNDS, () => ({})),
  inks: null,
};

const COLOURLESS: Palette = {
  tones: mapStyles(TONES, withoutColour),
  grounds: mapStyles(FOREGROUNDS, withoutColour),
  inks: null,
};

function withoutColour({ color: _, ...style }: Style): Style {
  return style;
}

/** Hidden characters, matches and the cursor look the same on every background. */
export function styleOf({ tone, ground }: Omit<Span, 'text'>, { tones, grounds, inks }: Palette): Style {
  if (ground === undefined || tone === 'hidden' || tone === 'match' || tone === 'cursor') return tones[tone];
  const ink = inks?.[tone];
  return ink === undefined ? grounds[ground] : { ...grounds[ground], color: ink };
}

/** How lines are printed. The lines of a screen are drawn by `tui/components/Line.tsx`. */
export interface Theme {
  readonly palette: Palette;
  readonly paint: (span: Span) => string;
}

/** The palette decides which colours there are. */
const chalk = new Chalk({ level: 3 });

export function createTheme(level: ColourLevel, background?: Background): Theme {
  const palette = paletteOf(level, background);
  return { palette, paint: span => styled(span.text, styleOf(span, palette)) };
}

function styled(text: string, { color, background, isBold, isDim, isUnderlined, isInverse }: Style): string {
  let shown = text;
  if (isUnderlined) shown = chalk.underline(shown);
  if (isBold) shown = chalk.bold(shown);
  if (isDim) shown = chalk.dim(shown);
  if (isInverse) shown = chalk.inverse(shown);
  if (color !== undefined) shown = coloured(shown, color, false);
  if (background !== undefined) shown = coloured(shown, background, true);
  return shown;
}

function coloured(text: string, value: string, isBackground: boolean): string {
  const [, index] = /^ansi256\((\d+)\)$/.exec(value) ?? [];
  if (index !== undefined)
    return isBackground ? chalk.bgAnsi256(Number(index))(text) : chalk.ansi256(Number(index))(text);
  if (value.startsWith('#')) return isBackground ? chalk.bgHex(value)(text) : chalk.hex(value)(text);
  return chalk[value as 'red'](text);
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
