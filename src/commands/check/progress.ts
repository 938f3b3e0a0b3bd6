import { RUNS } from '../../check/repeats.js';
import { outputOf, type Sink } from '../../system/streams.js';
import { formatDuration, joinFirst, truncate } from '../../util/text.js';
import { linesSetting, type Terminal } from '../terminal.js';
import type { Repeat } from './repeat.js';

/** The progress of a check: one line on the terminal that is overwritten, and erased at the end. */
export interface Progress {
  begin(): void;
  /** @param name of the current probe or scenario */
  readonly update: (done: number, total: number, name: string) => void;
  /** Prints text that stays above the line. */
  readonly printLine: Sink;
  readonly end: () => void;
}

/** The width of a terminal that does not tell its width. */
const COLUMNS = 80;

const CLEAR = '\r\u001b[2K';

/** Maximum number of rules named while they are checked again. */
const MAX_RULES = 3;

/** Reports to `onProgress` too. Draws nothing if stderr is no terminal, or the user wants no such line. */
export function progressOn(
  { stderr, env, onProgress }: Pick<Terminal, 'stderr' | 'env' | 'onProgress'>,
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
  const begun = performance.now();
  let state = `${what} …`;
  let line = '';
  const output = outputOf(stderr);
  const draw = (text: string) => {
    if (isDrawn && text !== line) output.write(`${CLEAR}${text}`);
    line = text;
  };
  const refresh = () => {
    const seconds = Math.floor((performance.now() - begun) / 1_000);
    const shown = seconds === 0 ? state : `${state} · ${formatDuration(seconds * 1_000)}`;
    draw(truncate(shown, (stderr.columns || COLUMNS) - 1)); // a wrapped line could not be erased
  };
  let clock: NodeJS.Timeout | undefined;
  return {
    begin() {
      if (isDrawn) clock = setInterval(refresh, 1_000).unref();
      refresh();
    },
    update(done, total, name) {
      state = `${what} … ${done} of ${total} · ${name}`;
      onProgress?.(state);
      refresh();
    },
    printLine(text: string): Promise<void> {
      const shown = line;
      draw('');
      const isTaken = output.take(text);
      draw(shown);
      return isTaken;
    },
    end() {
      clearInterval(clock);
      draw('');
    },
  };
}
