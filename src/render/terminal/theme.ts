import { Chalk, type ChalkInstance } from 'chalk';
import { commandsIn, replacementOf } from '../../util/visible.js';
import { type Ground, type Line, lineText, type Span, type Tone } from '../line.js';
import type { ColourLevel } from './colour-level.js';

export type Theme = Readonly<Record<Tone, (text: string) => string>> & {
  readonly on: Readonly<Record<Ground, (text: string, tone: Tone) => string>>;
};

/** Matches and the cursor are visible even without colours. */
const INVERSE = new Chalk({ level: 1 }).inverse;

/** The 256-colour index of text that is readable on a background. */
const INK = 255;
const INKS: Partial<Readonly<Record<Tone, number>>> = {
  dim: 250,
  keyword: 213,
  string: 222,
  number: 159,
  comment: 250,
  type: 123,
  function: 117,
  name: 195,
};

/**
 * Text uses the 16 colours of the user's terminal, so it is readable on dark and on light backgrounds. With more colours, changed rows have
 * a fixed background and foreground.
 */
export function createTheme(level: ColourLevel): Theme {
  const chalk = new Chalk({ level });
  return {
    plain: text => text,
    title: chalk.bold,
    dim: chalk.dim,
    good: chalk.green,
    bad: chalk.red,
    warn: chalk.yellow,
    running: chalk.cyan,
    hidden: chalk.inverse,
    selected: chalk.inverse,
    match: INVERSE,
    cursor: INVERSE,
    gutter: chalk.dim,
    divider: chalk.dim,
    hunk: chalk.cyan,
    added: chalk.green,
    removed: chalk.red,
    keyword: chalk.magenta,
    string: chalk.yellow,
    number: chalk.cyan,
    comment: chalk.dim,
    type: chalk.cyan,
    function: chalk.blue,
    name: chalk.blue,
    on: level >= 2 ? backgrounds(chalk) : foregrounds(chalk),
  };
}

function backgrounds(chalk: ChalkInstance): Theme['on'] {
  const on = (ground: number) => (text: string, tone: Tone) =>
    chalk.bgAnsi256(ground)(chalk.ansi256(INKS[tone] ?? INK)(text));
  return { added: on(22), removed: on(52), 'added-word': on(28), 'removed-word': on(124) };
}

function foregrounds({ green, red }: ChalkInstance): Theme['on'] {
  return {
    added: text => green(text),
    removed: text => red(text),
    'added-word': text => green.bold.underline(text),
    'removed-word': text => red.bold.underline(text),
  };
}

/** Every row that people see is styled here, so no row starts a CI command (threats, row 32). */
export function styleLine(line: Line, theme: Theme): string {
  return withoutCommands(line)
    .map(span => styleSpan(span, theme))
    .join('');
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

function styleSpan({ text, tone, ground }: Span, theme: Theme): string {
  return ground === undefined || tone === 'hidden' || tone === 'match'
    ? theme[tone](text)
    : theme.on[ground](text, tone);
}
