import { beforeAll, describe, expect, test } from 'vitest';
import { type Ended, ownProgram } from '../support/own-program.js';

/** Runs a program of ours that believes to be on a platform. */
let programOn: (platform: string, body: string) => Promise<Ended>;

beforeAll(async () => {
  const run = await ownProgram(`export * from './src/system/process.ts';`);
  programOn = (platform, body) =>
    run(`
      Object.defineProperty(process, 'platform', { value: ${JSON.stringify(platform)} });
      const { beforeForcedEnd, endByForce, handleEmergencies, interrupt, onSignals } = ours;
      handleEmergencies(() => {}, status => process.exit(status));
      beforeForcedEnd(() => say('cleanup'));
      setInterval(() => {}, 1000);
      ${body}`);
});

describe.concurrent.each([
  ['linux', { code: null, signal: 'SIGINT' }],
  ['win32', { code: 130, signal: null }],
] as const)('Ctrl-C as a key on %s', (platform, end) => {
  test('is handled like the signal; the second one ends the process after its cleanup', async () => {
    const body = `
      let count = 0;
      onSignals(signal => {
        say(signal);
        if (++count === 2) endByForce(signal);
        else interrupt();
      });
      interrupt();
      say('pressed');`;
    const said = ['pressed', 'SIGINT', 'SIGINT', 'cleanup'];
    expect(await programOn(platform, body)).toEqual({ said, ...end });
  });

  test('without a handler ends the process after its cleanup', async () => {
    expect(await programOn(platform, 'interrupt();')).toEqual({ said: ['cleanup'], ...end });
  });
});

describe.concurrent('on Windows', () => {
  test.each([
    ['SIGHUP', 129],
    ['SIGQUIT', 131],
    ['SIGTERM', 143],
  ])('a forced end by %s has the exit status of the signal', async (signal, code) => {
    expect(await programOn('win32', `endByForce('${signal}');`)).toMatchObject({ code });
  });

  test('Ctrl-Break is handled like Ctrl-C', async () => {
    const body = `onSignals(signal => { say(signal); endByForce(signal); }); process.emit('SIGBREAK', 'SIGBREAK');`;
    expect(await programOn('win32', body)).toMatchObject({ said: ['SIGINT', 'cleanup'], code: 130 });
  });
});
