import { homedir, tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { spawn } from '@lydell/node-pty';
import { Unicode11Addon } from '@xterm/addon-unicode11';
import headless from '@xterm/headless';

const BIN = fileURLToPath(new URL('../../bin/protocol-cli.cjs', import.meta.url));

/**
 * Runs the program in a terminal of its own; what a person sees at its end, the prompt included.
 * @returns {Promise<{ columns: number, rows: import('./svg.mjs').Run[][] }>}
 */
export async function capture(words, { columns, rows }) {
  const terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true });
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = '11';
  terminal.write(`\u001b[32m$\u001b[39m \u001b[1mnpx protocol-cli ${words.join(' ')}\u001b[22m\r\n`);
  await run(words, { columns, rows }, terminal);
  const { active } = terminal.buffer;
  const lines = Array.from({ length: active.baseY + rows }, (_, index) => runsOf(active.getLine(index)));
  return { columns, rows: lines.slice(0, lines.findLastIndex(line => line.length > 0) + 1) };
}

function run(words, { columns, rows }, terminal) {
  const child = spawn(process.execPath, [BIN, ...words], {
    name: 'xterm-256color',
    cols: columns,
    rows,
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, HOME: homedir(), LANG: 'C.UTF-8' },
  });
  child.onData(data => terminal.write(data));
  return new Promise((resolve, reject) =>
    child.onExit(({ exitCode }) =>
      terminal.write('', () => (exitCode === 0 ? resolve() : reject(new Error(`exit status ${exitCode}`)))),
    ),
  );
}

/** Neighbouring cells of the same look, blanks that nobody sees left out. */
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
    foreground: cell.isFgDefault() ? null : cell.getFgColor(),
    background: cell.isBgDefault() ? null : cell.getBgColor(),
    bold: cell.isBold() !== 0,
    dim: cell.isDim() !== 0,
    inverse: cell.isInverse() !== 0,
  };
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
