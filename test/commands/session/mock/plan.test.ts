import { describe, expect, test } from 'vitest';
import { readPlan, type SessionMockFlags } from '../../../../src/commands/session/mock/plan.js';
import { errorOf, troubleOf } from '../../../support/failing.js';

const FLAGS: SessionMockFlags = { host: '127.0.0.1', port: 0, color: true };
type World = Parameters<typeof readPlan>[2];
const TERMINAL: World = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: {},
  afterDashes: null,
  cwd: '/',
  home: '/',
  hostsCode: () => {},
  interrupt: () => {},
};
const plan = (words: string[], flags: Partial<SessionMockFlags> = {}, world: Partial<World> = {}) =>
  readPlan(words, { ...FLAGS, ...flags }, { ...TERMINAL, ...world });

describe('the words', () => {
  test('a file, or none; what comes after the dashes is a command, and turns verification on', () => {
    expect(plan([])).toMatchObject({ file: null, command: null, isVerified: false });
    expect(plan(['a.yaml'])).toMatchObject({ file: 'a.yaml', command: null });
    expect(plan(['a.yaml', 'npm', 'test'], {}, { afterDashes: ['npm', 'test'] })).toMatchObject({
      file: 'a.yaml',
      command: ['npm', 'test'],
      isVerified: true,
    });
    expect(plan(['x'], {}, { afterDashes: ['x'] })).toMatchObject({ file: null, command: ['x'] });
    expect(plan([], { verify: true })).toMatchObject({ isVerified: true });
  });

  test.each<[string, () => unknown, string]>([
    ['two files', () => plan(['a.yaml', 'b.yaml']), 'usage: one script is played, and "b.yaml" is another'],
    [
      'no command after the dashes',
      () => plan([], {}, { afterDashes: [] }),
      'usage: there is no command after --',
    ],
    [
      'a live list in CI',
      () => plan([], { output: 'ui' }, { env: { CI: '1' } }),
      'usage: -o ui needs a terminal of at least 40×8 for itself, outside CI',
    ],
    [
      'a live list and a command',
      () => plan(['x'], { output: 'ui' }, { afterDashes: ['x'] }),
      'usage: -o ui needs a terminal of at least 40×8 for itself, outside CI',
    ],
    [
      'ndjson and a command',
      () => plan(['x'], { output: 'ndjson' }, { afterDashes: ['x'] }),
      'usage: -o ndjson and a command both want stdout',
    ],
  ])('%s is a mistake', async (_, work, trouble) => {
    expect(await troubleOf(work)).toBe(trouble);
  });
});

describe('the key', () => {
  test('is the one that is given, or named; else that of the environment; else a random one', () => {
    const env = { API_KEY: 'from-env', OTHER: 'other' };
    expect(plan([], { key: 'k' }, { env }).key).toBe('k');
    expect(plan([], { key: 'env:OTHER' }, { env }).key).toBe('other');
    expect(plan([], {}, { env }).key).toBe('from-env');
    const [one, two] = [plan([]).key, plan([], {}, { env: { API_KEY: '' } }).key];
    expect(one).toMatch(/^[\w-]{32}$/);
    expect(two).not.toBe(one);
  });

  test('is told where it is a random one, and nobody else hands it over: -q and a command', () => {
    const random = plan([]);
    expect(random.toldKey).toBe(random.key);
    expect(plan([], { quiet: true }).toldKey).not.toBeNull();
    expect(plan(['x'], {}, { afterDashes: ['x'] }).toldKey).not.toBeNull();
    expect(plan(['x'], { quiet: true }, { afterDashes: ['x'] }).toldKey).toBeNull();
    expect(plan([], { key: 'k' }).toldKey).toBeNull();
    expect(plan([], {}, { env: { API_KEY: 'k' } }).toldKey).toBeNull();
  });

  test('that is named and is not there is a mistake', async () => {
    expect(await errorOf(() => plan([], { key: 'env:NOBODY' }))).toMatchObject({
      code: 'usage',
      message: '--key: the environment has no NOBODY',
    });
  });
});
