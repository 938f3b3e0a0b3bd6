import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { canDraw, defaultOutput, type Terminal } from '../../src/commands/terminal.js';

interface Ends {
  readonly stdin?: boolean;
  readonly stdout?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Record<string, string>;
}

function terminalOf({ stdin = true, stdout = true, columns = 80, rows = 24, env = {} }: Ends): Terminal {
  const end = (isTTY: boolean) => Object.assign(new PassThrough(), { isTTY, columns, rows });
  const ends = { stdin: end(stdin), stdout: end(stdout), stderr: end(true) };
  return { ...ends, env, cwd: '/', home: '/' } as unknown as Terminal;
}

describe('the live view is the default if a screen can be drawn', () => {
  test.each<[Ends, boolean, string]>([
    [{}, true, 'ui'],
    [{ columns: 40, rows: 8 }, true, 'ui'],
    [{ columns: 39 }, false, 'plain'],
    [{ rows: 7 }, false, 'plain'],
    [{ stdin: false }, false, 'plain'],
    [{ stdout: false }, false, 'text'],
    [{ env: { CI: 'true' } }, false, 'plain'],
    [{ env: { CI: '' } }, false, 'plain'],
    [{ env: { CI: '0' } }, true, 'ui'],
    [{ env: { CI: 'false' } }, true, 'ui'],
    [{ env: { CONTINUOUS_INTEGRATION: '1' } }, false, 'plain'],
    [{ env: { CI: 'false', CONTINUOUS_INTEGRATION: '' } }, false, 'plain'],
    [{ env: { CONTINUOUS_INTEGRATION: 'false' } }, true, 'ui'],
  ])('%j: %j, else %s', (ends, draws, output) => {
    expect([canDraw(terminalOf(ends)), defaultOutput(terminalOf(ends))]).toEqual([draws, output]);
  });
});
