import { describe, expect, test } from 'vitest';
import { startWarnings } from '../../../src/commands/mock-tool/plan.js';
import { parseFixtures } from '../../../src/fixtures/reading/check-set.js';

const done = { payload: 'done' };
const setOf = (...fixtures: object[]) => parseFixtures({ version: 1, fixtures }, 'a.yaml');
const fixture = (id: string) => ({ id, match: { operation: 'op' }, reply: done });
const asking = { match: { operation: 'op' }, reply: { oauth: {}, granted: done, refused: done } };
const LOCAL = 'http://127.0.0.1:3001';

describe('TOOL-OAUTH: a consent page that runtimes must refuse', () => {
  const told = (flags: { host?: string; allowHost?: string[] }, url = LOCAL, set = setOf(asking)) =>
    startWarnings({ host: '127.0.0.1', ...flags }, url, set).filter(each => each.includes('TOOL-OAUTH'));

  test.each([
    [{ allowHost: ['localhost', 'mock:3001', 'other'] }, LOCAL, 'mock:3001'],
    [{ host: '192.0.2.7' }, 'http://192.0.2.7:3001', '192.0.2.7:3001'],
  ])('is warned of once, by the name it is called: %j', (flags, url, name) => {
    expect(told(flags, url)).toEqual([
      `runtimes that call it as ${name} must refuse the auth_url of its consent page, which is http: and not on loopback (TOOL-OAUTH); give the oauth step an https auth_url of its own`,
    ]);
  });

  test.each([
    [{}, LOCAL],
    [{ allowHost: ['localhost:3001', '127.0.0.2', '[::1]'] }, LOCAL],
    [{ host: '::1' }, 'http://[::1]:3001'],
    [{ host: '0.0.0.0' }, LOCAL], // no other name than the loopback's is served
  ])('not where it is reached on loopback alone: %j', (flags, url) => {
    expect(told(flags, url)).toEqual([]);
  });

  test('not where nobody is sent there', () => {
    expect(told({ allowHost: ['mock'] }, LOCAL, setOf(fixture('a')))).toEqual([]);
  });
});

describe('a fixture that can never answer', () => {
  const told = (...fixtures: object[]) => startWarnings({ host: 'localhost' }, LOCAL, setOf(...fixtures));

  test('is named with its place, and with the one that always answers instead', () => {
    expect(told(fixture('first'), fixture('second'))).toEqual([
      'fixture second can never answer: first, which stands before it, takes every call it could match (a.yaml#2)',
    ]);
  });

  test('has its place as its name where it has no other', () => {
    const { id: _, ...nameless } = fixture('');
    expect(told(nameless, nameless)).toEqual([
      'fixture a.yaml#2 can never answer: a.yaml#1, which stands before it, takes every call it could match',
    ]);
  });

  test('threats, row 24: has a foreign name', () => {
    expect(told(fixture('a'), fixture('\u001b[2J\n')).join()).toContain('fixture ␛[2J␊ can');
  });
});

test('threats, row 5: it is open to the network', () => {
  expect(startWarnings({ host: '::' }, LOCAL, undefined)).toEqual(['it is open to the network (--host ::)']);
});
