import { describe, expect, test } from 'vitest';
import { mockToolCommand } from '../../../src/commands/mock-tool/command.js';
import { startWarnings } from '../../../src/commands/mock-tool/run.js';
import { parseFixtures } from '../../../src/fixtures/read-fixtures.js';
import { DEFAULTS } from '../../../src/mock/mock.js';

const done = { payload: 'done' };
const setOf = (...fixtures: object[]) => parseFixtures({ version: 1, fixtures }, 'a.yaml');
const fixture = (id: string) => ({ id, match: { operation: 'op' }, reply: done });
const asking = { match: { operation: 'op' }, reply: { oauth: {}, granted: done, refused: done } };
const LOCAL = 'http://127.0.0.1:3001';

describe('TOOL-OAUTH: a consent page that runtimes must refuse', () => {
  const warnings = (flags: { host?: string; allowHost?: string[] }, url = LOCAL, set = setOf(asking)) =>
    startWarnings({ host: '127.0.0.1', ...flags }, url, set).filter(each => each.includes('TOOL-OAUTH'));

  test.each([
    [{ allowHost: ['localhost', 'mock:3001', 'other'] }, LOCAL, 'mock:3001'],
    [{ host: '192.0.2.7' }, 'http://192.0.2.7:3001', '192.0.2.7:3001'],
  ])('warns once, with the name that runtimes use: %j', (flags, url, name) => {
    expect(warnings(flags, url)).toEqual([
      `runtimes that call the mock as ${name} must refuse the auth_url of its consent page, which is http: and not on loopback (TOOL-OAUTH); give the oauth step an https auth_url`,
    ]);
  });

  test.each([
    [{}, LOCAL],
    [{ allowHost: ['localhost:3001', '127.0.0.2', '[::1]'] }, LOCAL],
    [{ host: '::1' }, 'http://[::1]:3001'],
    [{ host: '0.0.0.0' }, LOCAL], // only loopback names are served
  ])('no warning on loopback: %j', (flags, url) => {
    expect(warnings(flags, url)).toEqual([]);
  });

  test('no warning without a consent page', () => {
    expect(warnings({ allowHost: ['mock'] }, LOCAL, setOf(fixture('a')))).toEqual([]);
  });
});

test('threats, row 5: warns if it is open to the network', () => {
  expect(startWarnings({ host: '::' }, LOCAL, undefined)).toEqual([
    'the server is open to the network (--host ::)',
  ]);
});

test('the options have the defaults of the library', () => {
  const { maxBody, maxPending, retries, keep, drainMs: drain } = DEFAULTS;
  expect(mockToolCommand(async () => {}).opts()).toMatchObject({ maxBody, maxPending, retries, keep, drain });
});
