import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundled } from '../support/own-program.js';

/** A program with a handler of its own for signals, which then computes for ever. */
let program = '';
beforeAll(async () => {
  program = await bundled(`
    import { guardAgainstBlocking } from './src/system/process.js';
    import { beforeForcedEnd } from './src/system/process.js';
    import { spawn } from 'node:child_process';
    import { writeSync } from 'node:fs';
    const isSort = process.argv[1] === 'sort';
    const strings = Array.from({ length: isSort ? 2.5e6 : 0 }, (_, n) => String(Math.imul(n, 0x9e3779b1)));
    const sleeping = isSort && spawn('sleep', ['1000'], { detached: true, stdio: 'inherit' });
    const WORK = {
      regex: () => /^(a|a)*$/.test('a'.repeat(60) + 'b'),
      sort: () => { for (;;) [...strings].sort(); },
      idle: () => {},
    };
    process.on('SIGTERM', () => { writeSync(1, 'handled'); setTimeout(() => process.exit(7), 1200); });
    beforeForcedEnd(() => {
      writeSync(1, 'cleaned up');
      if (sleeping) sleeping.kill('SIGKILL');
    });
    guardAgainstBlocking();
    setTimeout(() => { writeSync(1, 'computing '); WORK[process.argv[1]](); }, 300);
    setInterval(() => {}, 1000);`);
});

async function signalled(work: string) {
  const child = spawn(process.execPath, ['-e', program, work], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', data => {
    said += data;
  });
  const computing = new Promise<void>(resolve =>
    child.stdout.on('data', data => {
      said += data;
      if (said.includes('computing')) resolve();
    }),
  );
  await computing;
  child.kill('SIGTERM');
  const again = setInterval(() => child.kill('SIGTERM'), 5_000); // on a busy machine the guard may have begun after the first
  const tooLate = setTimeout(() => child.kill('SIGQUIT'), 30_000);
  const [code, signal] = await once(child, 'close');
  clearInterval(again);
  clearTimeout(tooLate);
  return { code, signal, said };
}

describe('a signal', () => {
  it('ends a process in an endless computation', async () => {
    expect(await signalled('regex')).toEqual({ code: null, signal: 'SIGTERM', said: 'computing cleaned up' });
  });

  // It cannot clean up. A closed pipe shows that the started command ended too.
  it('ends a process in one long native call, and what it started', async () => {
    expect(await signalled('sort')).toEqual({ code: null, signal: 'SIGKILL', said: 'computing ' });
  });

  it('gives a process that is not blocked any time to end', async () => {
    expect(await signalled('idle')).toEqual({ code: 7, signal: null, said: 'computing handled' });
  });
});
