import { expect, test } from 'vitest';
import { defineTool } from '../../../src/mock/handlers.js';
import { startMockTool } from '../../../src/mock/mock-tool.js';
import { errorOf } from '../../support/failing.js';
import { replying, stageWith } from '../stage.js';

const code = defineTool({
  name: 'op',
  description: 'In code',
  inputSchema: { type: 'object' },
  annotations: { readOnly: true },
  handle: () => 1,
});

test('operations in code come first, and instead of a fixture of the same name', async () => {
  const handlers = [code, { ...code, name: 'more' }];
  await using both = await stageWith(replying({ payload: 'x' }), { handlers });
  expect(both.tool.toolset.tools.map(({ name, description }) => [name, description])).toEqual([
    ['op', 'In code'],
    ['more', 'In code'],
  ]);
  await using alone = await stageWith(null, { handlers: [code] });
  const { handle: _, ...tool } = code;
  expect(alone.tool.toolset).toEqual({ name: 'handlers', needsMigration: false, tools: [tool] });
});

test.each([
  ['TOOL-NAMES: a name that is there twice', [code, code]],
  ['TOOL-NAMES: a bad name', [{ ...code, name: 'a b' }]],
  ['a schema that is invalid', [{ ...code, inputSchema: { type: 'strin' } }]],
  ['nothing at all', []],
])('%s', async (_, handlers) => {
  const { code: kind, faults } = await errorOf(() => startMockTool({ handlers }));
  expect([kind, faults.length > 0]).toEqual(['invalid-toolset', true]);
});
