import { beforeAll, describe, expect, test } from 'vitest';
import { type Ended, ownProgram } from '../support/own-program.js';

/** What a program does that meets emergencies. */
let programWith: (body: string) => Promise<Ended>;

beforeAll(async () => {
  const run = await ownProgram(`export * from './src/system/process.ts';`);
  programWith = body =>
    run(`
      const { handleEmergencies, onEmergency, beforeForcedEnd } = ours;
      const started = performance.now();
      const finish = handleEmergencies(error => {
        say(['end fault', error.message, performance.now() - started >= 1000 ? 'late' : 'soon'].join(' '));
        process.exit(3);
      });
      beforeForcedEnd(() => say('cleanup'));
      setInterval(() => {}, 1000);
      ${body}`);
});

const FAULT = `setImmediate(() => { throw new Error('a fault'); });`;
const QUIT = `process.kill(process.pid, 'SIGQUIT');`;

describe.concurrent('an emergency', () => {
  test('without emergency cleanup, ends at once after the other cleanup', async () => {
    expect(await programWith(FAULT)).toEqual({
      said: ['cleanup', 'end fault a fault soon'],
      code: 3,
      signal: null,
    });
    expect(await programWith(QUIT)).toEqual({
      said: ['cleanup'],
      code: null,
      signal: 'SIGQUIT',
    });
  });

  test('also handles an unhandled rejection', async () => {
    expect((await programWith(`Promise.reject(new Error('a promise'));`)).said.at(-1)).toBe(
      'end fault a promise soon',
    );
  });

  test('waits until the cleanup has finished, and no longer', async () => {
    const leaving = `onEmergency(() => { say('leaving'); setTimeout(finish, 50); }); ${FAULT}`;
    expect((await programWith(leaving)).said).toEqual(['leaving', 'cleanup', 'end fault a fault soon']);
  });

  test('waits at most a second for cleanup that does not finish', async () => {
    const staying = `onEmergency(() => say('leaving')); ${FAULT}`;
    expect((await programWith(staying)).said).toEqual(['leaving', 'cleanup', 'end fault a fault late']);
  });

  test('is reported once: later errors may follow from the first', async () => {
    const failing = `onEmergency(() => { setImmediate(() => { throw new Error('another'); }); setTimeout(finish, 50); }); ${FAULT}`;
    expect((await programWith(failing)).said).toEqual(['cleanup', 'end fault a fault soon']);
  });

  test('a second SIGQUIT does not wait', async () => {
    const again = `onEmergency(() => setTimeout(() => { ${QUIT} }, 50)); ${QUIT}`;
    expect(await programWith(again)).toEqual({
      said: ['cleanup'],
      code: null,
      signal: 'SIGQUIT',
    });
  });

  test('removed cleanup is not called', async () => {
    const gone = `onEmergency(() => say('leaving'))(); ${FAULT}`;
    expect((await programWith(gone)).said).toEqual(['cleanup', 'end fault a fault soon']);
  });
});
