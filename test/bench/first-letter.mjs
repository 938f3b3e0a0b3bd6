import { stripVTControlCharacters } from 'node:util';
import { spawn } from '@lydell/node-pty';

export const SIZE = { cols: 120, rows: 40 };

/** Ms from the spawn of `node` in a terminal to the first character that a person can see. */
export function firstLetter(args) {
  return inTerminal(args, text => text.trim() !== '', { isStopped: false, cwd: process.cwd() });
}

/** Ms to something that a person can see; then it is stopped. */
export function firstSight(args, isSeen, { cwd = process.cwd() } = {}) {
  return inTerminal(args, isSeen, { isStopped: true, cwd });
}

/** The environment without what changes how a terminal is drawn on. */
export function personsEnv() {
  const { CI, NO_COLOR, FORCE_COLOR, ...env } = process.env;
  return env;
}

function inTerminal(args, isSeen, { isStopped, cwd }) {
  return new Promise((resolve, reject) => {
    let drawn = '';
    let took;
    const start = performance.now();
    const terminal = spawn(process.execPath, args, {
      ...SIZE,
      name: 'xterm-256color',
      env: personsEnv(),
      cwd,
    });
    terminal.onData(data => {
      if (took !== undefined) return;
      drawn += data;
      if (!isSeen(stripVTControlCharacters(drawn))) return;
      took = performance.now() - start;
      if (isStopped) terminal.kill('SIGKILL');
    });
    terminal.onExit(({ exitCode }) => {
      if (exitCode === 0 && took !== undefined) resolve(took);
      else reject(new Error(`${args.join(' ')} ended with ${exitCode}: ${stripVTControlCharacters(drawn)}`));
    });
  });
}
