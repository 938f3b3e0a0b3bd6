import { describe, expect, test } from 'vitest';
import { readPlan, type SessionMockFlags } from '../../../src/commands/session/mock.js';

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
});
