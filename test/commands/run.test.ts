import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { type Run, withRun } from '../../src/commands/run.js';
import type { Terminal } from '../../src/commands/terminal.js';

function terminalWith(canceled: AbortSignal): Terminal {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  return {
    ...(streams as unknown as Pick<Terminal, keyof typeof streams>),
    env: {},
    afterDashes: null,
    cwd: '/',
    home: '/',
    announceUserCode: () => {},
    interrupt: () => {},
    canceled,
  };
}

test.each(['before', 'after'])('a run that is canceled %s it begins ends as by Ctrl-C', async when => {
  const abort = new AbortController();
  if (when === 'before') abort.abort();
  const stopped: string[] = [];
  const ended = withRun({ terminal: terminalWith(abort.signal) }, async run => {
    run.onStop(async () => void stopped.push('stopped'));
    return run.interrupted.race(new Promise(() => {}));
  });
  abort.abort();
  expect(await ended).toBe(130);
  expect(stopped).toEqual(['stopped']);
});

test('what starts when the run is over already is stopped at once', async () => {
  let over: Run | undefined;
  const terminal = terminalWith(new AbortController().signal);
  await withRun({ terminal }, async run => {
    over = run;
    return 0;
  });
  const stopped: string[] = [];
  over?.onStop(async () => void stopped.push('stopped'));
  expect(stopped).toEqual(['stopped']);
});
