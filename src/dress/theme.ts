import { Chalk, type ChalkInstance } from 'chalk';
import type { Ground, Tone } from '../story/line.js';
import type { ColourLevel } from './colour-level.js';

/** How each tone looks, and how it does on a ground. */
export type Theme = Readonly<Record<Tone, (text: string) => string>> & {
  readonly on: Readonly<Record<Ground, (text: string, tone: Tone) => string>>;
};

/** No colour: whoever wants none still sees where a match is, and where one types. */
const INVERSE = new Chalk({ level: 1 }).inverse;

/** Of the 256 colours, what can be read on a ground. */
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
 * Text has the 16 colours that the person chose for their terminal, so that it reads on dark and on light.
 * Where there are more, a changed row brings its own background and the foreground to it.
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
