import { fileURLToPath } from 'node:url';
import { spawn } from '@lydell/node-pty';
import { personsEnv, SIZE } from '../first-letter.mjs';

const HOOK = fileURLToPath(new URL('../report-peak.cjs', import.meta.url));

/** Runs `node` in a terminal to its end; in the file stands then the highest memory that it had, in KiB. */
export function peakInTerminal(args, file) {
  const terminal = spawn('/bin/sh', reportingPeak(args, file), {
    ...SIZE,
    name: 'xterm-256color',
    env: personsEnv(),
  });
  terminal.onData(() => {});
  return new Promise((resolve, reject) =>
    terminal.onExit(({ exitCode }) =>
      exitCode === 0 ? resolve() : reject(new Error(`${args.join(' ')} ended with ${exitCode}`)),
    ),
  );
}

/** The arguments of `/bin/sh` for `node` with these ones: a terminal has no further channel, so the shell opens it. */
export function reportingPeak(args, file) {
  return ['-c', 'exec "$@" 3>"$0"', file, process.execPath, '--require', HOOK, ...args];
}
