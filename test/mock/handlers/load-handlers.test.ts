import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadHandlers } from '../../../src/mock/sources.js';
import { errorOf } from '../../support/failing.js';

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

  test.each<[string, string | null, RegExp, RegExp]>([
    ['throws', "throw new Error('at once');", /cannot be loaded: at once$/, /threw an error while loading/],
    ['gone', null, /cannot be loaded: file not found$/, /^Give the path of an ES module/],
    ['alone', "import 'not-there';", /cannot be loaded: /, /npm install not-there$/],
    ['none', 'export const tool = 1;', /does not export a tool by default$/, /^export default defineTool/],
    ['empty', 'export default [];', /does not export a tool by default$/, /^export default defineTool/],
    [
      'middleware',
      `export default ${tool}; export const middleware = [{}, { onRequest: 'log' }];`,
      /exports an invalid middleware$/,
      /^export const middleware = /,
    ],
  ])('that is unusable is an error with a hint: %s', async (name, source, trouble, help) => {
    const path = source === null ? `${name}.mjs` : file(`${name}.mjs`, source);
    const { code, message, hint } = await errorOf(() => loadHandlers(path, folder));
    expect([code, message, hint]).toEqual([
      'unreadable-file',
      expect.stringMatching(trouble),
      expect.stringMatching(help),
    ]);
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
});
