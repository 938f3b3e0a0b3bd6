import type { Terminal } from '../terminal.js';

/** One line on a terminal that is written over and over, and gone at the end; nothing anywhere else. */
export interface Progress {
  update(done: number, total: number): void;
  /** For what is to stay: the line makes room for it. */
  aside(text: string): void;
  end(): void;
}

const CLEAR = '\r\u001b[2K';

export function progressOn({ stderr, env }: Pick<Terminal, 'stderr' | 'env'>, isQuiet: boolean): Progress {
  const isDrawn = stderr.isTTY === true && env['TERM'] !== 'dumb' && !isQuiet;
  let line = '';
  const draw = (text: string) => {
    if (isDrawn && text !== line) stderr.write(`${CLEAR}${text}`);
    line = text;
  };
  return {
    update: (done, total) => draw(`checking … ${done} of ${total}`),
    aside(text) {
      const shown = line;
      draw('');
      stderr.write(text);
      draw(shown);
    },
    end: () => draw(''),
  };
}
