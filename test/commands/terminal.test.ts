import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { canDraw, type Terminal } from '../../src/commands/terminal.js';

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

describe('a screen can be drawn', () => {
  test.each<[Ends, boolean]>([
    [{}, true],
    [{ columns: 40, rows: 8 }, true],
    [{ columns: 39 }, false],
    [{ rows: 7 }, false],
    [{ stdin: false }, false],
    [{ stdout: false }, false],
    [{ env: { CI: 'true' } }, false],
    [{ env: { CI: '' } }, false],
    [{ env: { CI: '0' } }, true],
    [{ env: { CI: 'false' } }, true],
    [{ env: { CONTINUOUS_INTEGRATION: '1' } }, false],
    [{ env: { CI: 'false', CONTINUOUS_INTEGRATION: '' } }, false],
    [{ env: { CONTINUOUS_INTEGRATION: 'false' } }, true],
    [{ env: { ACCESSIBLE: '1' } }, false],
    [{ env: { ACCESSIBLE: '' } }, true],
    [{ env: { ACCESSIBLE: '0' } }, true],
    [{ env: { ACCESSIBLE: 'false' } }, true],
    [{ env: { INK_SCREEN_READER: 'true' } }, false],
    [{ env: { INK_SCREEN_READER: 'false' } }, true],
  ])('%j: %j', (ends, draws) => {
    expect(canDraw(terminalOf(ends))).toBe(draws);
  });
});
