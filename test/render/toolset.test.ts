import { describe, expect, test } from 'vitest';
import type { Tool, Toolset } from '../../src/protocol/toolset.js';
import { noticeLine, operationLines, type SentNotice, toolsetLines } from '../../src/render/toolset.js';
import { words } from '../support/words.js';

describe('a toolset', () => {
  const TOOL: Tool = { name: 'edit_file', description: 'Replace text in a file', inputSchema: {} };
  const toolset = (tool: Partial<Tool> = {}): Toolset => ({
    name: 'demo',
    description: 'Tools to try',
    endpoint: 'http://127.0.0.1:3001/invoke',
    needsMigration: false,
    tools: [{ ...TOOL, ...tool }],
  });
  const linesOf = (tool: Partial<Tool>) => toolsetLines(toolset(tool)).map(words).slice(3);

  test('shows the display script as text', () => {
    expect(linesOf({ displayScript: '"Edit " +\nargs.path' })).toContain(
      '  display script  "Edit " +␊args.path',
    );
  });

  test.each([
    [{ type: 'integer', minimum: 1, maximum: 9, default: 3 }, 'integer, minimum 1, maximum 9, default 3'],
    [{ type: 'string', minLength: 2, pattern: '^a' }, 'string, minLength 2, pattern "^a"'],
    [{ type: 'array', maxItems: 4 }, 'array, maxItems 4'],
    [{ enum: ['x', 'y'], default: 'x' }, '"x" | "y", default "x"'],
    [{ type: ['string', 'null'] }, 'string or null'],
    [{ anyOf: [{ type: 'integer' }, { type: 'null' }], default: null }, 'integer or null, default null'],
    [{ type: 'array', items: { type: 'object' }, minItems: 1 }, 'array of object, minItems 1'],
    [{ items: { $ref: '#/$defs/Line' } }, 'array of Line'],
    [{ oneOf: [{ $ref: '#/$defs/Card' }, { $ref: '#/$defs/Cash' }] }, 'one of Card, Cash'],
    [{ allOf: [{ $ref: '#/definitions/Base' }] }, 'Base'],
    [{ properties: {} }, 'object'],
    [{ const: 7 }, '7'],
    [true, 'any'],
  ])('shows the limits and the default of %o', (schema, shown) => {
    expect(linesOf({ inputSchema: { properties: { n: schema } } }).join('\n')).toContain(
      `n  optional  ${shown}`,
    );
  });

  test('an operation alone has the parts of its arguments', () => {
    const line = {
      type: 'object',
      required: ['sku'],
      properties: { sku: { type: 'string', maxLength: 9 }, next: { $ref: '#/$defs/line' } },
    };
    const inputSchema = {
      required: ['lines'],
      properties: {
        lines: { type: 'array', items: { $ref: '#/$defs/line' } },
        tags: { type: 'array', items: { type: 'string', minLength: 2 } },
        pay: { oneOf: [{ $ref: '#/$defs/line' }, { type: 'null' }] },
      },
      $defs: { line },
    };
    const lines = operationLines({ ...TOOL, inputSchema }, [])
      .map(words)
      .slice(2, -2);
    expect(lines).toEqual([
      '    lines  required  array of line',
      '      sku   required  string, maxLength 9',
      '      next  optional  line',
      '    tags   optional  array of string',
      '      each  string, minLength 2',
      '    pay    optional  line or null',
      '      one of: line',
      '        sku   required  string, maxLength 9',
      '        next  optional  line',
    ]);
  });

  test('row 22: a schema that refers to itself many times is shown in part', () => {
    const all = {
      allOf: Array.from({ length: 100 }, () => ({ $ref: '#/$defs/all' })),
      properties: { a: {} },
    };
    const lines = operationLines({ ...TOOL, inputSchema: { ...all, $defs: { all } } }, []);
    expect(lines.length).toBeLessThan(600);
  });

  test('row 24: contains no raw control characters', () => {
    const evil = '\u001b]0;x\u0007\u202e\n';
    const inputSchema = { properties: { [evil]: { type: evil, description: evil } } };
    const lines = toolsetLines({
      ...toolset({ displayScript: evil, description: evil, inputSchema, annotations: { [evil]: evil } }),
      description: evil,
    });
    for (const line of lines) expect(words(line)).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});

describe('a notice', () => {
  const NOTICE: SentNotice = {
    url: 'http://127.0.0.1:3001/close_thread',
    message: { thread_id: 't' },
    status: 200,
    said: '',
    ms: 3,
  };
  const SENT = 'http://127.0.0.1:3001/close_thread {"thread_id":"t"}';

  test.each<[string, Partial<SentNotice>]>([
    [`✓ ${SENT} answered 200 after 3ms`, {}],
    [`✗ ${SENT} answered 204 instead of 200 after 3ms`, { status: 204 }],
    [`✗ ${SENT} answered 409 instead of 200 after 3ms: busy`, { status: 409, said: 'busy' }],
    [`✗ ${SENT} not answered after 1.2s: ECONNREFUSED`, { status: null, said: 'ECONNREFUSED', ms: 1_200 }],
  ])('%s', (line, change) => {
    expect(words(noticeLine({ ...NOTICE, ...change }))).toBe(line);
  });

  test("threats, row 24: keeps the tool's answer on one line, without raw control characters", () => {
    const line = words(noticeLine({ ...NOTICE, status: 500, said: '\u001b]0;owned\u0007\nx\u202e' }));
    expect(line).toContain(': ␛]0;owned␇␊x<U+202E>');
  });
});
