import { beforeAll, describe, expect, test } from 'vitest';
import { type Ended, ownProgram } from '../support/own-program.js';

/** Runs a program that takes some time to stop. */
let leaving: (signals: readonly NodeJS.Signals[]) => Promise<Ended>;

beforeAll(async () => {
  const run = await ownProgram(`export * from './src/commands/terminal.ts';`);
  leaving = ([first, second]) =>
    run(`
      const interrupted = new ours.Interruption();
      const waiting = setInterval(() => {}, 1000);
      interrupted.onSignal(() => {
        say('leaving');
        process.kill(process.pid, '${second}');
        setTimeout(() => {
          say('left ' + interrupted.status);
          interrupted.release();
          clearInterval(waiting);
        }, 200);
      });
      setTimeout(() => process.kill(process.pid, '${first}'), 1);`);
});

describe.concurrent('a second signal', () => {
  test.each<[NodeJS.Signals, NodeJS.Signals]>([
    ['SIGINT', 'SIGTERM'],
    ['SIGTERM', 'SIGINT'],
    ['SIGHUP', 'SIGINT'],
  ])('after %s, %s, ends the process immediately', async (first, second) => {
    expect(await leaving([first, second])).toEqual({ said: ['leaving'], code: null, signal: second });
  });

  test.each<[NodeJS.Signals, number]>([
    ['SIGHUP', 129],
    ['SIGINT', 130],
  ])('SIGHUP after %s has no effect: a closing terminal sends it more than once', async (first, status) => {
    expect(await leaving([first, 'SIGHUP'])).toEqual({
      said: ['leaving', `left ${status}`],
      code: 0,
      signal: null,
    });
  });
});
