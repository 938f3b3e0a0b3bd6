import { expect, test } from 'vitest';
import { parseFixtures } from '../../../src/fixtures/reading/check-set.js';
import { defineTool } from '../../../src/mock/handlers.js';
import { NO_FIXTURES } from '../../../src/mock/mock-state.js';
import { requireValidToolset, toolsetOf } from '../../../src/mock/toolset.js';
import { errorOf } from '../../support/failing.js';
import { replying } from '../stage.js';

const code = defineTool({
  name: 'op',
  description: 'In code',
  inputSchema: { type: 'object' },
  annotations: { readOnly: true },
  handle: () => 1,
});
const fixtures = parseFixtures({ version: 1, ...replying({ payload: 'x' }) });

test('what is in code comes first, and instead of a fixture of the same name', () => {
  const { tools, name, needsMigration } = toolsetOf(fixtures, [code, { ...code, name: 'more' }]);
  expect(tools.map(tool => [tool.name, tool.description])).toEqual([
    ['op', 'In code'],
    ['more', 'In code'],
  ]);
  expect([name, needsMigration]).toEqual([fixtures.toolset.name, false]);
  expect(toolsetOf(NO_FIXTURES, [code])).toEqual({
    name: 'handlers',
    needsMigration: false,
    tools: [
      {
        name: 'op',
        description: 'In code',
        inputSchema: { type: 'object' },
        annotations: { readOnly: true },
      },
    ],
  });
});

test.each([
  ['TOOL-NAMES: a name that is there twice', [code, code]],
  ['TOOL-NAMES: a bad name', [{ ...code, name: 'a b' }]],
  ['a schema that is none', [{ ...code, inputSchema: { type: 'strin' } }]],
  ['nothing at all', []],
])('%s', async (_, handlers) => {
  const { code: kind, faults } = await errorOf(() => requireValidToolset(toolsetOf(NO_FIXTURES, handlers)));
  expect([kind, faults.length > 0]).toEqual(['invalid-toolset', true]);
});
