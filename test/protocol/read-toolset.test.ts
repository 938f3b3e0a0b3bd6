import { describe, expect, test } from 'vitest';
import { readToolset } from '../../src/protocol/read-toolset.js';
import { parseJson } from '../../src/util/json.js';
import { expectCpuBelow } from '../support/cpu-ms.js';

const TOOL = { name: 'edit_file', description: 'Edits', inputSchema: { type: 'object' } };
const TOOLSET = { name: 'demo', endpoint: 'http://127.0.0.1:3001/invoke', tools: [TOOL] };

const read = (document: unknown) => readToolset(parseJson(JSON.stringify(document)));
const faults = async (document: unknown) => {
  const reading = await read(document);
  return reading.ok ? [] : reading.faults;
};
const withTool = (fields: object) => faults({ ...TOOLSET, tools: [{ ...TOOL, ...fields }] });

describe('TOOL-DISCOVER: a valid toolset', () => {
  test('with only the required fields', async () => {
    expect(await read(TOOLSET)).toEqual({
      ok: true,
      notes: [],
      toolset: { ...TOOLSET, needsMigration: false },
    });
  });

  test('with all fields; keeps annotations of a vendor', async () => {
    const annotations = {
      requiresAuth: 'github',
      readOnly: true,
      destructive: false,
      idempotent: true,
      longRunning: true,
      'x-acme-cost': { cents: 3 },
    };
    const whole = {
      ...TOOLSET,
      description: 'All of it',
      needsMigration: true,
      tools: [{ ...TOOL, annotations, displayScript: 'args.path' }],
    };
    expect(await read(whole)).toEqual({ ok: true, notes: [], toolset: whole });
  });

  test('unknown fields are ignored', async () => {
    expect(await faults({ ...TOOLSET, version: 3, tools: [{ ...TOOL, icon: 'x' }] })).toEqual([]);
  });

  test('null for an optional member counts as absent', async () => {
    const whole = {
      ...TOOLSET,
      description: null,
      needsMigration: null,
      tools: [
        { ...TOOL, annotations: null, displayScript: null },
        { ...TOOL, name: 'b', annotations: { readOnly: null } },
      ],
    };
    expect(await read(whole)).toEqual({
      ok: true,
      notes: [],
      nulls: [
        '$.description',
        '$.tools[0].annotations',
        '$.tools[0].displayScript',
        '$.tools[1].annotations.readOnly',
        '$.needsMigration',
      ],
      toolset: { ...TOOLSET, needsMigration: false, tools: [TOOL, { ...TOOL, name: 'b', annotations: {} }] },
    });
  });

  test('null for a required member is an error, and other errors are reported too', async () => {
    const broken = {
      ...TOOLSET,
      name: null,
      description: null,
      tools: [{ ...TOOL, description: null, annotations: 7 }],
    };
    expect([...(await faults(broken))].sort()).toEqual([
      '$.name: must be a string',
      '$.tools[0].annotations: must be an object',
      '$.tools[0].description: must be a string',
    ]);
  });

  test('warns about an unknown draft', async () => {
    const inputSchema = { $schema: 'https://example.com/draft', type: 'object' };
    const reading = await read({ ...TOOLSET, tools: [{ ...TOOL, inputSchema }] });
    expect(reading).toMatchObject({
      ok: true,
      notes: [
        '$.tools[0].inputSchema: names the draft "https://example.com/draft"; supported drafts: 2020-12, 2019-09, draft-07, draft-06, draft-04, so arguments are not checked',
      ],
    });
  });

  test('row 20: has the notes about the JSON', async () => {
    const reading = await readToolset(parseJson(`\uFEFF${JSON.stringify(TOOLSET)}`));
    const price = 'strict runtimes, such as the reference, refuse it: the whole toolset is lost';
    expect(reading).toMatchObject({
      ok: true,
      notes: [`the body starts with a byte-order mark; ${price}`],
    });
  });
});

describe('RT-TOOLSET: reports every error at once', () => {
  const broken = {
    name: '',
    endpoint: 'tools.example',
    tools: [
      { name: 'twice', description: '', inputSchema: { type: 'strnig' } },
      { name: 'a b', description: 3, inputSchema: {} },
      { name: 'twice', inputSchema: { properties: { n: { minLength: -1 } } } },
      { name: 'no_schema', description: '', inputSchema: [], annotations: { readOnly: 'yes' } },
    ],
  };

  test('with its JSON path', async () => {
    const paths = (await faults(broken)).map(fault => fault.split(': ')[0]);
    expect(new Set(paths)).toEqual(
      new Set([
        '$.name',
        '$.endpoint',
        '$.tools[0].inputSchema.type',
        '$.tools[1].name',
        '$.tools[1].description',
        '$.tools[2].description',
        '$.tools[2].inputSchema.properties.n.minLength',
        '$.tools[3].inputSchema',
        '$.tools[3].annotations.readOnly',
        '$.tools[2].name',
      ]),
    );
  });

  test.each([
    [7, /^\$: must be an object$/],
    [{}, /^\$\.name: is required$/],
    [{ ...TOOLSET, tools: [] }, /^\$\.tools: must have at least 1 items?$/],
    [{ ...TOOLSET, tools: {} }, /^\$\.tools: must be an array$/],
    [{ ...TOOLSET, tools: [null] }, /^\$\.tools\[0\]: must be an object$/],
  ])('%j', async (document, fault) => {
    expect(await faults(document)).toContainEqual(expect.stringMatching(fault));
  });

  test('reports the reason for invalid JSON', async () => {
    expect(await readToolset(parseJson('<html>'))).toEqual({
      ok: false,
      faults: [expect.stringMatching(/^\$: not valid JSON/)],
    });
  });
});

describe('TOOL-NAMES', () => {
  test.each(['a', 'A-Z_0-9', 'x'.repeat(128)])('%s is valid', async name => {
    expect(await withTool({ name })).toEqual([]);
  });

  test.each(['', 'a b', 'a.b', 'a/b', 'a\n', '\u202ea'])('%j is invalid', async name => {
    const found = await withTool({ name });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^\$\.tools\[0\]\.name: /);
  });

  test('warns about a letter that is not ASCII', async () => {
    const reading = await read({ ...TOOLSET, tools: [TOOL, { ...TOOL, name: 'lösche_数' }] });
    expect(reading).toMatchObject({
      ok: true,
      notes: ['$.tools[1].name: "lösche_数" has other characters than A–Z a–z 0–9 _ -'],
    });
  });

  test('at most 128 characters, for a tool and for a toolset', async () => {
    const name = 'x'.repeat(129);
    expect(await withTool({ name })).toEqual(['$.tools[0].name: must have at most 128 characters']);
    expect(await faults({ ...TOOLSET, name })).toEqual(['$.name: must have at most 128 characters']);
    expect(await faults({ ...TOOLSET, name: name.slice(1) })).toEqual([]);
  });

  test('a name is unique and case-sensitive', async () => {
    const names = (...all: string[]) => ({ ...TOOLSET, tools: all.map(name => ({ ...TOOL, name })) });
    expect(await faults(names('a', 'A'))).toEqual([]);
    expect(await faults(names('a', 'b', 'a', 'a'))).toEqual([
      '$.tools[2].name: "a" is already the name of $.tools[0]',
      '$.tools[3].name: "a" is already the name of $.tools[0]',
    ]);
  });
});

test('row 22: many costly schemas share one time limit', async () => {
  const type = Array.from({ length: 20_000 }, (_, index) => `type${index}`);
  const tools = Array.from({ length: 12 }, (_, index) => ({
    ...TOOL,
    name: `tool_${index}`,
    inputSchema: { type },
  }));
  await expectCpuBelow(2_000, async () => expect(await faults({ ...TOOLSET, tools })).not.toEqual([]));
});

describe('the endpoint', () => {
  test.each(['https://tools.example/invoke?x=1', 'http://[::1]:80/'])('%s is valid', async endpoint => {
    expect(await faults({ ...TOOLSET, endpoint })).toEqual([]);
  });

  test.each(['', '/invoke', 'tools.example', 'ftp://tools.example', 'javascript:alert(1)', 7])(
    '%j is invalid',
    async endpoint => {
      expect(await faults({ ...TOOLSET, endpoint })).toEqual([expect.stringMatching(/^\$\.endpoint: /)]);
    },
  );
});

test('TOOL-NAMES, row 19: __proto__ in a toolset changes nothing', async () => {
  const source = JSON.stringify(TOOLSET).replace(
    '"inputSchema":{',
    '"inputSchema":{"__proto__":{"polluted":1},',
  );
  expect(await readToolset(parseJson(source))).toMatchObject({ ok: true });
  expect('polluted' in {}).toBe(false);
});
