import { expect, expectTypeOf, test } from 'vitest';
import { defineTool, type HandlerCall, type ToolDefinition } from '../../../src/mock/handlers.js';

test('it gives its definition back; handle is typed by the schema', () => {
  const definition = {
    name: 'edit_file',
    description: 'Edits',
    inputSchema: {
      type: 'object',
      properties: { path: { type: 'string' }, n: { type: 'integer' } },
      required: ['path'],
    },
    handle: () => 'x',
  } as const;
  expect(defineTool(definition)).toBe(definition);
  const tool = defineTool({
    ...definition,
    handle(input, call) {
      expectTypeOf(input.arguments.path).toEqualTypeOf<string>();
      expectTypeOf(input.arguments.n).toEqualTypeOf<number | undefined>();
      expectTypeOf(input.group_id).toEqualTypeOf<string>();
      expectTypeOf(input.signal).toEqualTypeOf<AbortSignal>();
      expectTypeOf(call).toEqualTypeOf<HandlerCall>();
      // @ts-expect-error the schema has no such property
      return input.arguments.missing;
    },
  });
  expectTypeOf(tool).toExtend<Pick<ToolDefinition, 'name' | 'description'>>();
});

test('several of them are one list of handlers', () => {
  const one = defineTool({ name: 'a', description: '', inputSchema: { type: 'object' }, handle: () => 1 });
  const two = defineTool({
    name: 'b',
    description: '',
    inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    handle: ({ arguments: { n } }) => n,
  });
  expectTypeOf([one, two]).toExtend<readonly ToolDefinition[]>();
});
