import { stripVTControlCharacters } from 'node:util';
import { spawn } from '@lydell/node-pty';

const SIZE = { cols: 120, rows: 40 };

/** Ms from the spawn of `node` in a terminal to the first character that a person can see. */
export function firstLetter(args) {
  const { CI, NO_COLOR, FORCE_COLOR, ...env } = process.env;
  return new Promise((resolve, reject) => {
    let drawn = '';
    let took;
    const start = performance.now();
    const terminal = spawn(process.execPath, args, { ...SIZE, name: 'xterm-256color', env });
    terminal.onData(data => {
      drawn += data;
      if (took === undefined && stripVTControlCharacters(drawn).trim() !== '')
        took = performance.now() - start;
    });
    terminal.onExit(({ exitCode }) => {
      if (exitCode === 0 && took !== undefined) resolve(took);
      else reject(new Error(`${args.join(' ')} ended with ${exitCode}: ${stripVTControlCharacters(drawn)}`));
    });
  });
}
