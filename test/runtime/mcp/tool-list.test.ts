import { expect, test } from 'vitest';
import { listTools } from '../../../src/runtime/mcp/transports.js';

const schema = { type: 'object' };
const tool = (name: string, more = {}) => ({ name, inputSchema: schema, ...more });

function serving(pageOf: (cursor: unknown) => unknown) {
  return {
    server: 'test',
    request: async (_: string, { cursor }: Record<string, unknown>) => pageOf(cursor),
    close: async () => {},
  };
}

test('hints become annotations; that it destroys means nothing where it only reads', async () => {
  const tools = [
    tool('erase', { annotations: { destructiveHint: true, idempotentHint: true } }),
    tool('read', { annotations: { destructiveHint: true, readOnlyHint: true } }),
  ];
  const listed = await listTools(
    serving(() => ({ tools })),
    () => 0,
  );
  expect(listed.tools.map(({ annotations }) => annotations)).toEqual([
    { destructive: true, idempotent: true },
    { readOnly: true },
  ]);
});

test('pages are read to the last', async () => {
  const pages = new Map<unknown, unknown>([
    [undefined, { tools: [tool('a')], nextCursor: '2' }],
    ['2', { tools: [tool('b')], nextCursor: '' }],
  ]);
  const { tools, notes } = await listTools(
    serving(cursor => pages.get(cursor)),
    () => 0,
  );
  expect([tools.map(({ name }) => name), notes]).toEqual([['a', 'b'], []]);
});

test('a cursor that comes again, and pages without end, are left with a word', async () => {
  const again = await listTools(
    serving(() => ({ tools: [], nextCursor: 'x' })),
    () => 0,
  );
  expect(again.notes).toEqual([expect.stringContaining('after 2 pages')]);
  let page = 0;
  const endless = await listTools(
    serving(() => ({ tools: [tool(`t${page}`)], nextCursor: `${page++}` })),
    () => 0,
  );
  expect(endless.notes).toEqual([expect.stringContaining('after 200 pages with 200 tools')]);
});

test('what is no tool, or is there twice, is told and does not spoil the others; few of them are told', async () => {
  const bad = Array.from({ length: 9 }, () => ({ name: 'bad' }));
  const { tools, notes } = await listTools(
    serving(() => ({ tools: [tool('a'), tool('a'), ...bad, { name: { toString: 1 } }] })),
    () => 0,
  );
  expect(tools).toHaveLength(1);
  expect(notes[0]).toBe('the tool "a" is listed twice; the first counts');
  expect(notes[1]).toBe('the tool "bad" cannot be used: $.inputSchema: is required');
  expect(notes.at(-1)).toBe('and 6 more about the list of tools');
});

test('a page that is none is an error', async () => {
  await expect(
    listTools(
      serving(() => ({ tools: 'all' })),
      () => 0,
    ),
  ).rejects.toThrow('$.tools: must be an array');
});
