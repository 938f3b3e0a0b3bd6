import { describe, expect, test } from 'vitest';
import type { Toolset } from '../../src/protocol/toolset.js';
import { checkArguments, toolOf } from '../../src/runtime/check-call.js';

const tool = (inputSchema: Record<string, unknown>) => ({ name: 'edit_file', description: '', inputSchema });
const TOOLSET: Toolset = {
  name: 'demo\u202e',
  endpoint: 'http://127.0.0.1/',
  needsMigration: false,
  tools: [tool({}), { ...tool({}), name: 'deploy' }],
};

describe('RT-OP', () => {
  test.each([['__proto__', 'Available: edit_file, deploy.']])(
    '%s is not found, and the available names are reported',
    (operation, hint) => {
      expect(() => toolOf(TOOLSET, operation)).toThrow(
        expect.objectContaining({
          code: 'unknown-operation',
          message: `no operation "${operation}" in the toolset demo<U+202E>`,
          hint,
        }),
      );
    },
  );
});

describe('RT-ARGS', () => {
  test('a mismatched format is only a warning', async () => {
    const inputSchema = { properties: { to: { format: 'email' } } };
    expect(await checkArguments(tool(inputSchema), { to: 'no one' })).toEqual([
      { message: 'the argument $.to does not look like an email (format)' },
    ]);
  });

  test.each([
    ['row 22', { properties: { path: { pattern: '^(a|a)*$' } } }, /took longer than 250 ms/],
    ['row 23', { $ref: 'http://127.0.0.1:1/x\u202e' }, /can't resolve reference .*<U\+202E>/],
  ])('%s: an unusable schema is a warning and does not prevent the call', async (_, inputSchema, message) => {
    expect(await checkArguments(tool(inputSchema), { path: `${'a'.repeat(40)}b` })).toEqual([
      { id: 'RT-ARGS', message: expect.stringMatching(message) },
    ]);
  });
});

test('a toolset without tools is reported as empty', () => {
  const empty = { name: 'empty', endpoint: 'http://h/', tools: [], needsMigration: false };
  expect(() => toolOf(empty, 'x')).toThrow(expect.objectContaining({ hint: 'It has none at all.' }));
});
