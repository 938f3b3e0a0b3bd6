import { stripVTControlCharacters } from 'node:util';
import { spawn } from '@lydell/node-pty';
import { reportingPeak } from '../diff/peak.mjs';
import { personsEnv, SIZE } from '../first-letter.mjs';

/** Ms without a byte, after which a frame is whole; and between two keys, so that no frame is put off for the one before. */
const STILL = 120;
/** Of what was drawn, as much as a few frames. */
const KEPT = 100_000;

/** Ink begins a frame so. */
const FRAME = '\u001b[?2026h';

/**
 * Someone at a terminal in which `node` runs with these arguments, who presses keys and sees what comes of them. The highest memory
 * that it had, in KiB, stands in the file at the end.
 */
export function sitDown(args, file) {
  const terminal = spawn('/bin/sh', reportingPeak(args, file), {
    ...SIZE,
    name: 'xterm-256color',
    env: personsEnv(),
  });
  const watchers = new Set();
  let drawn = '';
  let lastAt = 0;
  let frames = 0;
  let status = null;
  const tell = () => {
    for (const watch of watchers) watch();
  };
  terminal.onData(data => {
    lastAt = performance.now();
    frames += data.split(FRAME).length - 1;
    drawn = (drawn + data).slice(-KEPT);
    tell();
  });
  terminal.onExit(({ exitCode }) => {
    status = exitCode;
    tell();
  });

  /** Resolves as soon as it is so; a program that has ended shows nothing any more. */
  const until = (what, isSo) =>
    new Promise((resolve, reject) => {
      const watch = () => {
        if (isSo()) resolve();
        else if (status !== null)
          reject(new Error(`${what}: it ended with ${status}: ${stripVTControlCharacters(drawn)}`));
        else return;
        watchers.delete(watch);
      };
      watchers.add(watch);
      watch();
    });

  const rest = () => silence(() => lastAt);
  return {
    /** @param wanted what the first group of it has is what this resolves with */
    async sees(wanted) {
      const match = () => wanted.exec(stripVTControlCharacters(drawn));
      await until(`it shows ${wanted}`, match);
      return match()[1];
    },
    press(keys) {
      drawn = '';
      terminal.write(keys);
    },
    /** Ms from the press of a key to the last byte of the frame that it brings about. */
    async timed(key) {
      drawn = '';
      const start = performance.now();
      terminal.write(key);
      await until(`a frame after ${JSON.stringify(key)}`, () => drawn !== '');
      await rest();
      return lastAt - start;
    },
    /** Resolves once nothing is drawn any more, with when that was: ms since the epoch. */
    async rest() {
      await rest();
      return performance.timeOrigin + lastAt;
    },
    get frames() {
      return frames;
    },
    /** @throws where the program ends with something else than 0 */
    async quit() {
      terminal.write('q');
      await until('it quits', () => status === 0);
    },
  };
}

async function silence(lastAt) {
  const since = performance.now();
  const left = () => STILL - (performance.now() - Math.max(since, lastAt()));
  while (left() > 0) await new Promise(resolve => setTimeout(resolve, left()));
}
