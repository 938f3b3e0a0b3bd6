import { expect, test } from 'vitest';
import { batch, begun, errorEvent, TWO_ROUNDS, toolResult } from './build.js';

/* Which bodies are refused, and where, is in test/e2e/session-mock. */

test('a missing result is not null, but a missing id is', () => {
  const answerTo = (body: unknown) => begun().judge(body).settles[0]?.answer;
  expect(answerTo(toolResult('call_1', {}))).not.toHaveProperty('result');
  expect(answerTo(toolResult('call_1', { result: null }))).toHaveProperty('result', null);
  const { id: _, ...tool_req } = toolResult('none').tool_req;
  expect(begun().judge({ ...toolResult('none'), tool_req }).settles).toMatchObject([{ call: { key: '#1' } }]);
});

test('a detail quotes at most 200 characters', () => {
  const { details } = begun().judge({ ...toolResult('call_1'), kind: 'x'.repeat(100_000) });
  expect(JSON.stringify(details).length).toBeLessThan(500);
});

test('an ended session: checks the format first, then the status, then the id', () => {
  const it = begun();
  it.session.cancel();
  expect(it.judge({ kind: 'x' }).status).toBe(422);
  expect(it.judge(toolResult('unknown'))).toMatchObject({ status: 409, settles: [] });
  const mixed = batch(toolResult('call_1'), { kind: 'x' });
  const each = begun(TWO_ROUNDS, { batch: 'each' });
  each.session.cancel();
  expect(each.judge(mixed)).toMatchObject({ status: 422, settles: [] });
});

test.each<[string, object | undefined, unknown, object]>([
  ['an empty batch', undefined, batch(), { message: 'the batch of results is empty' }],
  [
    'a call answered twice',
    { settled: 202 },
    batch(toolResult('call_1'), errorEvent('call_1')),
    { key: 'call_1' },
  ],
  [
    'a tool_req that is incomplete',
    undefined,
    { ...toolResult('call_1'), tool_req: { tool_name: 'lookup', args: { order_id: 'B' }, id: 'call_1' } },
    { key: 'call_1', message: expect.stringContaining('tool_name and args') },
  ],
  [
    'a duplicate key',
    undefined,
    JSON.stringify(toolResult('call_1')).replace('{', '{"kind":"error_event",'),
    { message: expect.stringContaining('kind') },
  ],
])('%s is accepted with a warning', (_, switches, body, warning) => {
  expect(begun(TWO_ROUNDS, switches).judge(body)).toMatchObject({ status: 202, warnings: [warning] });
});

test('row 19: keys of prototypes are ordinary keys, and change nothing', () => {
  const calls = [{ tool_name: 'a', args: JSON.parse('{"__proto__":{"x":1}}'), id: null }];
  const statusOf = (args: string) =>
    begun({ rounds: [{ calls }] }, { tool_req: 'exact' }).judge(
      `{"kind":"tool_result","tool_req":{"tool_name":"a","args":${args}}}`,
    ).status;
  expect(['{"__proto__":{"x":1}}', '{"__proto__":{"x":2}}', '{}'].map(statusOf)).toEqual([202, 422, 422]);
  expect({}).not.toHaveProperty('x');
});
