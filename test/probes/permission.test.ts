import { describe, expect, test, vi } from 'vitest';
import { callablesOf } from '../../src/check/probes/callables.js';
import type { Tool } from '../../src/protocol/toolset.js';
import { LIMITS } from '../../src/util/limits.js';
import { errorOf } from '../support/failing.js';

const tool = (name: string, annotations: Tool['annotations'] = {}, inputSchema = {}): Tool => ({
  name,
  description: '',
  inputSchema: { type: 'object', ...inputSchema },
  annotations,
});

const TOOLSET = {
  name: 'some',
  endpoint: 'http://127.0.0.1:1/invoke',
  needsMigration: false,
  tools: [
    tool('look', { readOnly: true }),
    tool('plain'),
    tool('odd', { readOnly: true, destructive: true }),
    tool('login', { readOnly: true, requiresAuth: 'oauth' }),
    tool('long', { readOnly: true, longRunning: true }),
    tool('drop', { destructive: true }),
    tool(
      'hard',
      { readOnly: true },
      { properties: { x: { type: 'string', pattern: '^qqq-\\d{9}$' } }, required: ['x'] },
    ),
  ],
};

const written = (operation: string, args = {}) => ({
  place: 'c.yaml:1',
  operation,
  arguments: args,
  offers: [],
});
const namesIn = async (operations: string[], cases: ReturnType<typeof written>[] = []) => {
  const { callables } = await callablesOf(TOOLSET, { operations, cases });
  return callables.map(({ tool: { name }, isHarmless }) => [name, isHarmless]);
};

test('rejects a case of an unknown operation, with its place and a suggestion', async () => {
  const error = await errorOf(() => namesIn([], [written('look'), written('lok')]));
  expect(error.code).toBe('unknown-operation');
  expect(error.faults).toEqual(['c.yaml:1: no operation "lok". Did you mean "look" or "long"?']);
});

describe('operations that may be called', () => {
  test('those marked as harmless', async () => {
    expect(await namesIn([])).toEqual([['look', true]]);
  });

  test('those selected by name, however they are marked', async () => {
    expect(await namesIn(['drop', 'login'])).toEqual([
      ['look', true],
      ['login', true],
      ['drop', true],
    ]);
  });

  test('those with a case, only with its arguments', async () => {
    expect(await namesIn([], [written('drop'), written('look')])).toEqual([
      ['look', true],
      ['drop', false],
    ]);
  });

  test('are identified by name', async () => {
    await expect(namesIn(['lok'])).rejects.toThrow('no operation "lok" in the toolset some');
  });
});

describe('operations that cannot be called', () => {
  test('are reported if no valid arguments could be made', async () => {
    const { warnings } = await callablesOf(TOOLSET, { operations: [], cases: [] });
    expect(warnings).toEqual([
      expect.stringMatching(/^hard is not called: no valid arguments .*; write a case$/),
    ]);
  });

  test('can be called with the arguments of a case', async () => {
    const { callables, warnings } = await callablesOf(TOOLSET, {
      operations: [],
      cases: [written('hard', { x: 'qqq-123456789' })],
    });
    expect(callables.map(each => each.arguments)).toEqual([{}, { x: 'qqq-123456789' }]);
    expect(warnings).toEqual([]);
  });

  test('are reported if there are no others', async () => {
    const tools = [tool('drop', { destructive: true })];
    const { warnings } = await callablesOf({ ...TOOLSET, tools }, { operations: [], cases: [] });
    expect(warnings).toEqual([expect.stringMatching(/^no operation is called: .*, or --cases <file>/)]);
  });

  test('are reported if there are only cases; --cases is not advised again', async () => {
    const tools = [tool('drop', { destructive: true })];
    const { warnings } = await callablesOf(
      { ...TOOLSET, tools },
      { operations: [], cases: [written('drop')] },
    );
    expect(warnings).toEqual([
      expect.stringMatching(/^only the cases are called, once each, .* add --operation <name>[^-]*$/),
    ]);
  });
});

describe('row 22: the time to make arguments is limited', () => {
  let now = 0;

  /** An operation whose schema takes this time to read. */
  function slow(ms: number, pattern: string): Tool {
    let left = ms;
    const x = {
      type: 'string',
      get pattern() {
        now += left;
        left = 0;
        return pattern;
      },
    };
    return tool('slow', { readOnly: true }, { properties: { x }, required: ['x'] });
  }

  async function namesOf(...tools: Tool[]) {
    using _ = vi.spyOn(performance, 'now').mockImplementation(() => now);
    const { callables } = await callablesOf({ ...TOOLSET, tools }, { operations: [], cases: [] });
    return callables.map(({ tool: { name } }) => name);
  }

  test('for one schema', async () => {
    const { value } = LIMITS.exampleMs;
    const late = '^0123456789abcdef$'; // the last word that is tried
    expect(await namesOf(slow(value, late))).toEqual(['slow']);
    expect(await namesOf(slow(value + 1, late))).toEqual([]);
  });

  test('for all schemas together', async () => {
    const { value } = LIMITS.examplesMs;
    const look = tool('look', { readOnly: true });
    expect(await namesOf(slow(value, 'example'), look)).toEqual(['slow', 'look']);
    expect(await namesOf(slow(value + 1, 'example'), look)).toEqual(['slow']);
  });
});
