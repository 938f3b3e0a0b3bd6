import { expect, test } from 'vitest';
import { Operations } from '../../../src/mock/toolset.js';

const tool = (name: string, inputSchema: Record<string, unknown>) => ({
  name,
  description: name,
  inputSchema,
});
const operations = new Operations({
  name: 'demo',
  needsMigration: false,
  tools: [
    tool('edit_file', { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }),
    tool('any', {}),
    tool('remote', { $ref: 'https://schemas.example/x.json' }),
  ],
});

test.each<[string, unknown, string | null]>([
  ['edit_file', { path: 'a' }, null],
  ['edit_file', { path: 'a', more: 1 }, null],
  ['any', { whatever: [1] }, null],
  ['edit_file', {}, 'invalid arguments: $.path is required. Correct them and call again.'],
  ['edit_file', { path: 1 }, 'invalid arguments: $.path must be string (type). Correct them and call again.'],
  [
    'edit_fiel',
    {},
    'unknown operation "edit_fiel". Did you mean edit_file? Use one of edit_file, any, remote.',
  ],
  ['toString', {}, 'unknown operation "toString". Use one of edit_file, any, remote.'],
  ['__proto__', {}, 'unknown operation "__proto__". Use one of edit_file, any, remote.'],
  [
    'EDIT_FILE',
    {},
    'unknown operation "EDIT_FILE". Did you mean edit_file? Use one of edit_file, any, remote.',
  ],
])('TOOL-UNKNOWN-OP, TOOL-BAD-ARGS: %s %j', async (operation, args, problem) => {
  expect(await operations.problem(operation, args)).toBe(problem);
});

test('row 23: a schema that cannot be used carries nothing out, and fetches nothing', async () => {
  expect(await operations.problem('remote', {})).toMatch(/^cannot validate the arguments of remote: /);
});
