import { expect, expectTypeOf, test } from 'vitest';
import { defineTool, type HandlerCall, type ToolDefinition } from '../../../src/mock/handlers.js';
import type { ArgumentsOf, ValueOf } from '../../../src/mock/schema-types.js';

const schema = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    lines: { type: 'integer' },
    ratio: { type: 'number' },
    force: { type: 'boolean' },
    nothing: { type: 'null' },
    mode: { enum: ['r', 'w'] },
    version: { const: 2 },
    tags: { type: 'array', items: { type: 'string' } },
    any: { type: 'array' },
    inner: { type: 'object', properties: { deep: { type: 'number' } }, required: ['deep'] },
    either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
  },
  required: ['path', 'mode', 'inner'],
} as const;

test('the arguments have the types of the schema', () => {
  type Arguments = ArgumentsOf<typeof schema>;
  expectTypeOf<Arguments['path']>().toEqualTypeOf<string>();
  expectTypeOf<Arguments['mode']>().toEqualTypeOf<'r' | 'w'>();
  expectTypeOf<Arguments['inner']['deep']>().toEqualTypeOf<number>();
  expectTypeOf<Arguments['lines']>().toEqualTypeOf<number | undefined>();
  expectTypeOf<Arguments['ratio']>().toEqualTypeOf<number | undefined>();
  expectTypeOf<Arguments['force']>().toEqualTypeOf<boolean | undefined>();
  expectTypeOf<Arguments['nothing']>().toEqualTypeOf<null | undefined>();
  expectTypeOf<Arguments['version']>().toEqualTypeOf<2 | undefined>();
  expectTypeOf<Arguments['tags']>().toEqualTypeOf<string[] | undefined>();
  expectTypeOf<Arguments['any']>().toEqualTypeOf<unknown[] | undefined>();
  expectTypeOf<Arguments['either']>().toEqualTypeOf<unknown>();
});

test('an object without properties is an open record', () => {
  type Open = { readonly type: 'object' };
  expectTypeOf<ArgumentsOf<Open>['anything']>().toEqualTypeOf<unknown>();
  expectTypeOf<ArgumentsOf<Open>>().toExtend<Record<string, unknown>>();
  expectTypeOf<Record<string, unknown>>().toExtend<ArgumentsOf<Open>>();
  expectTypeOf<ValueOf<{ readonly properties: { readonly inner: Open } }>>().toEqualTypeOf<unknown>();
});

test('defineTool returns its definition; handle is typed by the schema', () => {
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

test('several definitions form one list of handlers', () => {
  const one = defineTool({ name: 'a', description: '', inputSchema: { type: 'object' }, handle: () => 1 });
  const two = defineTool({
    name: 'b',
    description: '',
    inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    handle: ({ arguments: { n } }) => n,
  });
  expectTypeOf([one, two]).toExtend<readonly ToolDefinition[]>();
});
