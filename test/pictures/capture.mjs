import { homedir, tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { spawn } from '@lydell/node-pty';
import { Unicode11Addon } from '@xterm/addon-unicode11';
import headless from '@xterm/headless';

const BIN = fileURLToPath(new URL('../../bin/protocol-cli.cjs', import.meta.url));

/**
 * Runs the program in a terminal of its own; what a person sees at its end, or once it shows something.
 * @returns {Promise<{ columns: number, rows: import('./svg.mjs').Run[][] }>}
 */
export async function capture(
  words,
  { columns, rows },
  { shown = words, until, meanwhile, typed = [] } = {},
) {
  const terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true });
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = '11';
  terminal.write(`\u001b[32m$\u001b[39m \u001b[1mnpx protocol-cli ${shown.join(' ')}\u001b[22m\r\n`);
  const program = start(words, { columns, rows }, terminal);
  try {
    const stop = await meanwhile?.((await program.shows(/http:\/\/127\.0\.0\.1:\d+/))[0]);
    for (const [seen, keys] of typed) {
      await program.shows(seen);
      program.type(keys);
    }
    const { lines } = (await (until ? program.shows(until) : program.ended)) ?? { lines: linesOf(terminal) };
    stop?.();
    return { columns, rows: lines.slice(0, lines.findLastIndex(line => line.length > 0) + 1) };
  } finally {
    program.stop();
  }
}

/** Ink erases the lines of a frame before it draws the next one; on a busy machine, several frames arrive at once. */
const [UP, ERASE] = ['\u001b\\[1A', '\u001b\\[2K'];
const NEXT_FRAME = new RegExp(`(?<!${UP})(?=${ERASE})`);

/** Of an escape sequence that no one else uses. */
const END = 7777;
/** The exit of a process may overtake what it wrote, and the rest would be lost: so its end is written after it, and waits to be read. */
const TELLING_ITS_END = `"$@"; printf '\\033]${END};%s\\007' "$?"; read _`;

function start(words, { columns, rows }, terminal) {
  const child = spawn('sh', ['-c', TELLING_ITS_END, 'sh', process.execPath, BIN, ...words], {
    name: 'xterm-256color',
    cols: columns,
    rows,
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, HOME: homedir(), LANG: 'C.UTF-8', COLORTERM: 'truecolor' },
  });
  const watchers = new Set();
  child.onData(data => {
    for (const frame of data.split(NEXT_FRAME))
      terminal.write(frame, () => {
        for (const look of watchers) look();
      });
  });
  const ended = new Promise((resolve, reject) =>
    terminal.parser.registerOscHandler(END, status => {
      if (status === '0') resolve();
      else reject(new Error(`exit status ${status}`));
      return true;
    }),
  );
  ended.catch(() => {}); // where no one waits for the end
  return {
    ended,
    type: keys => child.write(keys),
    stop: () => child.kill('SIGKILL'),
    /** Resolves once the screen shows it, to the match with the lines of that moment. */
    shows(pattern) {
      const seen = () => {
        const match = pattern.exec(textOf(terminal));
        return match && Object.assign(match, { lines: linesOf(terminal) });
      };
      const found = new Promise(resolve => {
        const look = () => {
          const match = seen();
          if (!match) return;
          watchers.delete(look);
          resolve(match);
        };
        watchers.add(look);
        look();
      });
      // What it said last may come together with its end.
      const last = ended.then(() => seen() ?? Promise.reject(new Error(`ended before ${pattern}`)));
      return Promise.race([found, last]);
    },
  };
}

function textOf({ buffer: { active } }) {
  return Array.from({ length: active.length }, (_, index) =>
    active.getLine(index)?.translateToString(true),
  ).join('\n');
}

function linesOf({ buffer: { active }, rows }) {
  return Array.from({ length: active.baseY + rows }, (_, index) => runsOf(active.getLine(index)));
}

/** Neighbouring cells of the same look, blanks that no one sees left out. */
function runsOf(line) {
  const runs = [];
  for (let column = 0; column < line.length; column++) {
    const cell = line.getCell(column);
    if (cell.getWidth() === 0) continue;
    const look = lookOf(cell);
    const last = runs.at(-1);
    const text = cell.getChars() || ' ';
    if (last && isSame(last.look, look)) {
      last.text += text;
      last.width += cell.getWidth();
    } else runs.push({ column, text, width: cell.getWidth(), look });
  }
  return runs.map(trimmed).filter(({ text }) => text !== '');
}

function lookOf(cell) {
  return {
    foreground: cell.isFgDefault() ? null : colourOf(cell.getFgColor(), cell.isFgRGB()),
    background: cell.isBgDefault() ? null : colourOf(cell.getBgColor(), cell.isBgRGB()),
    bold: cell.isBold() !== 0,
    dim: cell.isDim() !== 0,
    italic: cell.isItalic() !== 0,
    underline: cell.isUnderline() !== 0,
    inverse: cell.isInverse() !== 0,
  };
}

function colourOf(number, isRgb) {
  return isRgb ? `#${number.toString(16).padStart(6, '0')}` : number;
}

function isSame(one, other) {
  return Object.keys(one).every(key => one[key] === other[key]);
}

function trimmed(run) {
  if (run.look.background !== null || run.look.inverse) return run;
  const start = run.text.length - run.text.trimStart().length;
  const text = run.text.trim();
  const removed = run.text.length - text.length;
  return { ...run, text, column: run.column + start, width: run.width - removed };
}
