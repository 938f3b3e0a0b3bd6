import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadHandlers } from '../../../src/mock/sources.js';
import { errorOf, troubleOf } from '../../support/failing.js';

const tool = "{ name: 'op', description: 'x', inputSchema: {}, handle: () => 'done' }";

let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'handlers-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, source: string): string {
  writeFileSync(join(folder, name), source);
  return name;
}

describe('row 29: the module of --handlers', () => {
  test.each([
    ['one', `export default ${tool};`, 1],
    ['several', `export default [${tool}, { ...${tool}, name: 'other' }];`, 2],
  ])('%s', async (name, source, count) => {
    const { handlers, middleware } = await loadHandlers(file(`${name}.mjs`, source), folder);
    expect([handlers.length, middleware]).toEqual([count, []]);
    expect(handlers[0]?.handle({} as never, {} as never)).toBe('done');
  });

  test.each([
    [
      'a module that throws',
      "throw new Error('at once');",
      /^unreadable-file: .* cannot be loaded: at once$/,
    ],
    [
      'invalid middleware',
      `export default ${tool}; export const middleware = [{}, { onRequest: 'log' }];`,
      /^unreadable-file: .* exports an invalid middleware$/,
    ],
  ])('%s', async (name, source, trouble) => {
    const path = file(`${name.replaceAll(' ', '-')}.mjs`, source);
    expect(await troubleOf(() => loadHandlers(path, folder))).toMatch(trouble);
  });
});

test.each([
  ['beside the tools', `export default ${tool}; export const middleware = { onRequest() {} };`, [1, 1]],
  ['several', `export default ${tool}; export const middleware = [{}, { onResponse() {} }];`, [1, 2]],
  ['without tools, for fixtures', 'export const middleware = { onRequest() {} };', [0, 1]],
])('a module may export middleware: %s', async (name, source, counts) => {
  const loaded = await loadHandlers(file(`middleware ${name}.mjs`, source), folder);
  expect([loaded.handlers.length, loaded.middleware.length]).toEqual(counts);
});

test('reports every error at once', async () => {
  const source = `export default [{ name: 'a b', description: 'x', inputSchema: {}, handle: 'no' }, 7];`;
  const { faults } = await errorOf(() => loadHandlers(file('faults.mjs', source), folder));
  expect(faults).toEqual([
    'default[0].name: may hold only letters, digits, _ and -',
    'default[0].handle: must be a function',
    'default[1]: must be an object',
  ]);
  const none = loadHandlers(file('none.mjs', 'export default [];'), folder);
  expect(await troubleOf(() => none)).toMatch(/does not export a tool/);
});
