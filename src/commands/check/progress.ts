import { RUNS } from '../../check/repeats.js';
import { outputOf, type Sink } from '../../system/streams.js';
import { joinFirst } from '../../util/text.js';
import { linesSetting, type Terminal } from '../terminal.js';
import type { Repeat } from './repeat.js';

/** The progress of a check: one line on the terminal that is overwritten, and erased at the end. */
export interface Progress {
  begin(): void;
  /** @param name of the current scenario */
  readonly update: (done: number, total: number, name?: string) => void;
  /** Prints text that stays above the line. */
  readonly printLine: Sink;
  readonly end: () => void;
}

const CLEAR = '\r\u001b[2K';

/** Maximum number of rules named while they are checked again. */
const MAX_RULES = 3;

/** Draws nothing if stderr is no terminal, or the user wants no such line. */
export function progressOn(
  { stderr, env }: Pick<Terminal, 'stderr' | 'env'>,
  isQuiet: boolean,
  repeat: Repeat | undefined,
): Progress {
  const isDrawn = stderr.isTTY === true && env['TERM'] !== 'dumb' && linesSetting(env) === null && !isQuiet;
  const what = repeat
    ? `repeating what failed: ${joinFirst(
        repeat.failed.map(({ id }) => id),
        MAX_RULES,
      )} (run ${repeat.run} of ${RUNS})`
    : 'checking';
  let line = '';
  const output = outputOf(stderr);
  const draw = (text: string) => {
    if (isDrawn && text !== line) output.write(`${CLEAR}${text}`);
    line = text;
  };
  return {
    begin: () => draw(`${what} …`),
    update: (done: number, total: number, name?: string) =>
      draw(`${what} … ${done} of ${total}${name === undefined ? '' : ` · ${name}`}`),
    printLine(text: string): Promise<void> {
      const shown = line;
      draw('');
      const isTaken = output.take(text);
      draw(shown);
      return isTaken;
    },
    end: () => draw(''),
  };
}
