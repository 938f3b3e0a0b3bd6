import { Chalk } from 'chalk';
import type { Tone } from '../story/line.js';
import type { ColourLevel } from './colour-level.js';

/** How each tone looks. */
export type Theme = Readonly<Record<Tone, (text: string) => string>>;

/**
 * Text has the 16 colours that the person chose for their terminal, so that it reads on dark and on light.
 * Where there are more, a changed word brings its own background and the foreground to it.
 */
export function createTheme(level: ColourLevel): Theme {
  const chalk = new Chalk({ level });
  const rich = level >= 2;
  return {
    plain: text => text,
    title: chalk.bold,
    dim: chalk.dim,
    good: chalk.green,
    bad: chalk.red,
    warn: chalk.yellow,
    running: chalk.cyan,
    hidden: chalk.inverse,
    gutter: chalk.dim,
    hunk: chalk.cyan,
    added: chalk.green,
    removed: chalk.red,
    'added-word': rich ? chalk.bgAnsi256(22).ansi256(255) : chalk.green.bold.underline,
    'removed-word': rich ? chalk.bgAnsi256(88).ansi256(255) : chalk.red.bold.underline,
  };
}
