import { describe, expect, test } from 'vitest';
import { readPlan, type SessionMockFlags } from '../../../src/commands/session/mock.js';
import { errorOf, troubleOf } from '../../support/failing.js';

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

describe('the arguments', () => {
  test('an optional file; a command after -- turns verification on', () => {
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
    ['two files', () => plan(['a.yaml', 'b.yaml']), 'usage: unexpected second script: b.yaml'],
    ['no command after --', () => plan([], {}, { afterDashes: [] }), 'usage: no command after --'],
    [
      'a live list in CI',
      () => plan([], { output: 'ui' }, { env: { CI: '1' } }),
      'usage: -o ui needs a terminal of at least 40×8 that no command uses, outside CI',
    ],
    [
      'a live list and a command',
      () => plan(['x'], { output: 'ui' }, { afterDashes: ['x'] }),
      'usage: -o ui needs a terminal of at least 40×8 that no command uses, outside CI',
    ],
    [
      'ndjson and a command',
      () => plan(['x'], { output: 'ndjson' }, { afterDashes: ['x'] }),
      'usage: -o ndjson and the command would both write to stdout',
    ],
  ])('refused: %s', async (_, work, trouble) => {
    expect(await troubleOf(work)).toBe(trouble);
  });
});

describe('the key', () => {
  test('comes from --key, else from the environment, else it is random', () => {
    const env = { API_KEY: 'from-env', OTHER: 'other' };
    expect(plan([], { key: 'k' }, { env }).key).toBe('k');
    expect(plan([], { key: 'env:OTHER' }, { env }).key).toBe('other');
    expect(plan([], {}, { env }).key).toBe('from-env');
    const [one, two] = [plan([]).key, plan([], {}, { env: { API_KEY: '' } }).key];
    expect(one).toMatch(/^[\w-]{32}$/);
    expect(two).not.toBe(one);
  });

  test('is shown if it is random, unless -q and a command hand it over', () => {
    const random = plan([]);
    expect(random.shownKey).toBe(random.key);
    expect(plan([], { quiet: true }).shownKey).not.toBeNull();
    expect(plan(['x'], {}, { afterDashes: ['x'] }).shownKey).not.toBeNull();
    expect(plan(['x'], { quiet: true }, { afterDashes: ['x'] }).shownKey).toBeNull();
    expect(plan([], { key: 'k' }).shownKey).toBeNull();
    expect(plan([], {}, { env: { API_KEY: 'k' } }).shownKey).toBeNull();
  });

  test('refuses a variable that is not set', async () => {
    expect(await errorOf(() => plan([], { key: 'env:MISSING' }))).toMatchObject({
      code: 'usage',
      message: '--key: the environment variable MISSING is not set',
    });
  });
});
