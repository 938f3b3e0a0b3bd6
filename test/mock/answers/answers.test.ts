import { describe, expect, test } from 'vitest';
import { defineTool } from '../../../src/mock/handlers.js';
import { startMockTool } from '../../../src/mock/mock-tool.js';
import { errorOf } from '../../support/failing.js';
import { fakeClock } from '../../support/fake-clock.js';
import { replying, replyingEach, type StartedMock, startMock } from '../start-mock.js';

async function textOf(mock: StartedMock, id: string, options: object = {}) {
  return (await (await mock.invoke({ id, ...options })).result()).body?.['text'];
}

describe('TOOL-RATE: a call beyond the rate gets 200 and an error with the time to wait', () => {
  test.each([
    [{ calls: 1, within: 60_000 }, 'Error: rate limit exceeded. Retry after 60 seconds.'],
    [{ calls: 1, within: 1_000 }, 'Error: rate limit exceeded. Retry after 1 second.'],
    [{ calls: 1, within: 20 }, 'Error: rate limit exceeded. Retry after 1 second.'],
    [{ calls: 2, within: 120_000 }, 'ok'],
  ])('%j', async (rateLimit, text) => {
    await using mock = await startMock(replying({ payload: 'ok' }), { rateLimit, clock: fakeClock() });
    expect([await textOf(mock, 'a'), await textOf(mock, 'b')]).toEqual(['ok', text]);
  });

  test('a rejected call counts for no fixture and is not unmatched; a later call is accepted', async () => {
    const clock = fakeClock();
    await using mock = await startMock(replying({ payload: '{{count}}' }), {
      rateLimit: { calls: 1, within: 1_000 },
      clock,
    });
    await textOf(mock, 'a');
    await textOf(mock, 'b');
    clock.advance(1_000);
    expect(await textOf(mock, 'c')).toBe('2');
    expect(mock.eventsOfKind('planned')).toMatchObject([{ plan: 'rate-limit' }]);
    await mock.tool.waitForDelivery('c');
    expect(mock.tool.verify()).toMatchObject({ ok: true, calls: 3, unmatched: { count: 0 } });
  });
});

describe('TOOL-VALIDATE: the schema is checked first, then handlers, then fixtures', () => {
  const handler = defineTool({
    name: 'op',
    description: 'In code',
    inputSchema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    handle: ({ arguments: { n } }) => `code ${n}`,
  });

  test('a handler takes precedence over a fixture operation and uses its own schema', async () => {
    await using mock = await startMock(replying({ payload: 'fixture' }), { handlers: [handler] });
    expect(await textOf(mock, 'a', { args: { n: 1 } })).toBe('code 1');
    expect(await textOf(mock, 'b', { args: {} })).toContain('Error: invalid arguments: $.n is required');
    expect(mock.eventsOfKind('matched').map(({ fixture }) => fixture)).toEqual(['handler:op', null]);
  });

  test('TOOL-UNKNOWN-OP, row 24: the error repeats the name, escaped for terminals', async () => {
    await using mock = await startMock(null, { handlers: [handler] });
    expect(await textOf(mock, 'a', { operation: 'o\u202e\u001b[2Jp' })).toBe(
      'Error: unknown operation "o\\u202e\\u001b[2Jp". Use one of op.',
    );
    expect(mock.eventsOfKind('matched')).toMatchObject([{ fixture: null }]);
  });

  test('without a match, the error shows the nearest fixture and the difference', async () => {
    const fixtures = [
      { id: 'far', match: { operation: 'op', arguments: { n: 1 } }, reply: { payload: 'x' } },
    ];
    await using mock = await startMock({ fixtures });
    expect(await textOf(mock, 'a', { args: { n: 2 } })).toMatch(
      /^Error: no fixture matches .*"far".*\$\.arguments\.n/,
    );
    expect(mock.tool.calls()).toMatchObject([{ answeredBy: null, nearest: { fixture: 'far' } }]);
  });
});

describe('templates contain values of the call', () => {
  test('row 29: nothing else is evaluated', async () => {
    const templates: [string, string | RegExp][] = [
      ['{{operation}} {{id}} {{group_id}} {{call_id}} {{user_id}}', 'op0 i g c u'],
      ['{{count}} for {{key}}', '1 for g'],
      ['{{arguments.a.b}}', 'deep'],
      ['{{now}}', '2025-01-01T00:00:01.000Z'],
      ['{{uuid}}', /^[\da-f]{8}-[\da-f-]{27}$/],
      ['\\{{count}}', '{{count}}'],
      ['<%= process.exit(1) %>{{arguments.constructor}}{{arguments.a.__proto__}}', '<%= process.exit(1) %>'],
    ];
    const replies = templates.map(([text]) => ({ result: { text } }));
    await using mock = await startMock(replyingEach(replies), { clock: fakeClock() });
    for (const [n, [, text]] of templates.entries()) {
      const more = { args: { a: { b: 'deep' } }, callId: 'c', userId: 'u' };
      const given = await textOf(mock, 'i', { operation: `op${n}`, ...more });
      expect(given).toEqual(typeof text === 'string' ? text : expect.stringMatching(text));
    }
  });

  test('row 29: inserted values are not expanded again', async () => {
    await using mock = await startMock(replying({ payload: '{{arguments.a}}' }));
    expect(await textOf(mock, 'i', { args: { a: '{{group_id}}' } })).toBe('{{group_id}}');
  });
});

const code = defineTool({
  name: 'op',
  description: 'In code',
  inputSchema: { type: 'object' },
  annotations: { readOnly: true },
  handle: () => 1,
});

test('operations in code come first and replace fixture operations of the same name', async () => {
  const handlers = [code, { ...code, name: 'more' }];
  await using both = await startMock(replying({ payload: 'x' }), { handlers });
  expect(both.tool.toolset.tools.map(({ name, description }) => [name, description])).toEqual([
    ['op', 'In code'],
    ['more', 'In code'],
  ]);
  await using alone = await startMock(null, { handlers: [code] });
  const { handle: _, ...tool } = code;
  expect(alone.tool.toolset).toEqual({ name: 'handlers', needsMigration: false, tools: [tool] });
});

test.each([
  ['TOOL-NAMES: a duplicate name', [code, code]],
  ['TOOL-NAMES: an invalid name', [{ ...code, name: 'a b' }]],
  ['an invalid schema', [{ ...code, inputSchema: { type: 'strin' } }]],
  ['no operations', []],
])('%s', async (_, handlers) => {
  const { code: kind, faults } = await errorOf(() => startMockTool({ handlers }));
  expect([kind, faults.length > 0]).toEqual(['invalid-toolset', true]);
});
