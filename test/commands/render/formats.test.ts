import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { DIALECT_NAMES, type DialectName } from '../../../src/dialects/dialect.js';
import { CHOICE, EVENT, INVOCATION, OAUTH, RESULT } from '../../events/build.js';
import { render, reportOf, textOf, type What } from './rendering.js';

const TOOL_REQ = { tool_name: 'lookup', args: {}, id: 'call_1' };
const SETTLED = { kind: 'tool_result', tool_req: TOOL_REQ, result: { a: 1 } };
const FAILED = { kind: 'error_event', error: 'no', origin: 'custom_tools', tool_req: TOOL_REQ };
const BATCH = { type: 'batch', results: [SETTLED, FAILED] };
const LMKIT = { Type: 'Timeout', ResultJson: '{"timeout":{"durationMs":5}}', ToolCallId: 'c', ToolName: 't' };
const MCP = { content: [{ type: 'text', text: 'a' }], isError: false };
const REPORT = { warnings: [], error: { code: 'unreachable', message: 'no' } };
const TOOLSET = {
  name: 'demo',
  endpoint: 'http://127.0.0.1:3001/invoke',
  tools: [{ name: 'a', description: 'b', inputSchema: { type: 'object' } }],
};
const SESSION_REPORT = {
  session: {
    id: 's1',
    url: 'http://127.0.0.1/s1',
    status: 'completed',
    rounds: 1,
    answer: 'done',
    error: null,
  },
  calls: [
    {
      ...{ key: 'call_1', tool_name: 'lookup', id: 'call_1', round: 0, ms: 3, body: FAILED },
      outcome: { type: 'timeout', durationMs: 5, basis: 'ours' },
      posted: { state: 'taken', status: 202, attempts: 1 },
    },
    { key: '#1', tool_name: 'late', id: null, round: 0, outcome: null, posted: null, ms: null },
  ],
  forgotten: 0,
  warnings: [{ message: 'odd' }],
};
const DIFF = '--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n';
const COLOURED =
  '\u001b[1mdiff --git a/x b/x\u001b[m\n\u001b[1m--- a/x\u001b[m\n\u001b[1m+++ b/x\u001b[m\n\u001b[36m@@ -1 +1 @@\u001b[m\n\u001b[31m-a\u001b[m\n\u001b[32m+b\u001b[m\n';

describe('detects the format', () => {
  test.each<[string, What, object]>([
    ['a report', REPORT, REPORT],
    ['a report of many calls', { calls: [REPORT], summary: {}, warnings: [] }, { calls: [REPORT] }],
    ['a report of a session', SESSION_REPORT, SESSION_REPORT],
    ['blanks before it', `\n  ${JSON.stringify(RESULT)}`, { kind: 'tool_result' }],
    ['a byte-order mark', `\uFEFF${JSON.stringify(RESULT)}`, { kind: 'tool_result' }],
    ['Windows line ends', JSON.stringify(RESULT, null, 2).replaceAll('\n', '\r\n'), { kind: 'tool_result' }],
    ['other members', { ...RESULT, operation: 'a', tools: [], kind: 'header' }, { kind: 'tool_result' }],
    ['a JSON-RPC result', { jsonrpc: '2.0', id: 1, result: MCP }, { kind: 'CallToolResult', message: MCP }],
    [
      'a JSON-RPC error',
      { jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'no such tool' } },
      {
        outcome: { type: 'error', code: '-32602', message: 'no such tool', basis: 'declared' },
        llm: { text: 'Error: no such tool' },
      },
    ],
    ['a diff in colours', COLOURED, { kind: 'diff', files: [{ newPath: 'x', added: 1 }] }],
    [
      'a diff of a file mode only',
      'diff --git a/x b/x\nold mode 100644\nnew mode 100755\n',
      { kind: 'diff' },
    ],
    ['a diff below prose', `commit 1\n\n    why\n\ndiff --git a/x b/x\n${DIFF}`, { kind: 'diff' }],
    ['a diff without names', '@@ -1 +1 @@\n-a\n+b\n', { kind: 'diff' }],
    ['a diff with wrong counts', DIFF.replace('+1 @@', '+1,9 @@'), { warnings: [{ id: 'TOOL-DIFF' }] }],
    [
      'lines',
      [LMKIT, SETTLED, MCP].map(textOf).join('\n'),
      { messages: [{ kind: 'ToolCallResult' }, { kind: 'tool_result' }, { kind: 'CallToolResult' }] },
    ],
    ['a list', [LMKIT, RESULT], { messages: [{ kind: 'ToolCallResult' }, { kind: 'tool_result' }] }],
  ])('%s', async (_, what, report) => {
    expect(await reportOf(what)).toMatchObject(report);
  });

  test.each<[object, DialectName, object]>([
    [RESULT, 'rap', { kind: 'tool_result' }],
    [SETTLED, 'session', { kind: 'tool_result', message: SETTLED, llm: { text: '{"a":1}' } }],
    [FAILED, 'session', { kind: 'error_event', outcome: { type: 'error', message: 'no' } }],
    [{ ...SETTLED, kind: 'later' }, 'session', { kind: 'later', outcome: { type: 'unknown', raw: 'later' } }],
    [BATCH, 'session', { kind: 'batch', results: [{ message: SETTLED }, { message: FAILED }] }],
    [{ status: 'idle', new_events: [] }, 'session', { kind: 'changes', pending: null }],
    [LMKIT, 'lmkit', { kind: 'ToolCallResult', outcome: { type: 'timeout', durationMs: 5 } }],
    [{ ...LMKIT, Type: 9 }, 'lmkit', { outcome: { raw: 9 }, warnings: [{ message: 'unknown Type' }] }],
    [MCP, 'mcp', { kind: 'CallToolResult', message: MCP, outcome: { type: 'success', basis: 'declared' } }],
    [{ structuredContent: 1 }, 'mcp', { kind: 'CallToolResult', llm: { text: '1' } }],
  ])('%j also with its own --dialect, and with no other', async (what, dialect, report) => {
    expect(await reportOf(what)).toMatchObject(report);
    expect(await reportOf(what, '--dialect', dialect)).toMatchObject(report);
    for (const other of DIALECT_NAMES.filter(each => each !== dialect))
      expect((await render(what, '--dialect', other)).status).toBe(2);
  });

  test('a report of a session shows the session, its calls and its answer', async () => {
    const { stdout } = await render(SESSION_REPORT);
    for (const words of ['SESSION s1  completed · 1 round', 'CALL of call #1 by late', 'done', '! odd'])
      expect(stdout.split('\n')).toContain(words);
  });
});

const NO = 'cannot show standard input:';

describe('an unsupported file is refused, with the place of the error', () => {
  test.each<[string, What, ...string[]]>([
    ['nothing', '', `${NO} it is empty`],
    ['blanks', ' \n\n', `${NO} it is empty`],
    ['prose', 'hello', `${NO} unrecognized format`, 'render --help lists the formats'],
    ['a number', '42', `${NO} unrecognized format`],
    ['broken JSON', '{"a":1,\n  "b":}', `${NO} invalid JSON`, 'line 2, column 7: found "}" where a value'],
    ['deep JSON', '['.repeat(200) + ']'.repeat(200), 'the JSON is nested deeper than 128 levels'],
    ['a list', '[1]', `${NO} unrecognized format`, '$: must be an object, not a list'],
    [
      'an unknown object in a list',
      [RESULT, { foo: 1 }],
      'looks like several of these',
      '$[1]: unrecognized format',
    ],
    [
      'a truncated line',
      `${JSON.stringify(RESULT)}\n\n{"type":`,
      'several of these',
      'line 3: not valid JSON',
    ],
    [
      'no type',
      { id: 'a', group_id: 'b', text: 'c' },
      'closest match: a callback',
      '$.type: is absent; a callback is',
    ],
    ['a misspelt type', { ...RESULT, type: 'tool_resul' }, 'closest match', '$.type: is "tool_resul"'],
    [
      'a broken invocation',
      { ...INVOCATION, id: 3, arguments: [] },
      'it looks like an invocation but is not valid',
      '$.arguments: must be an object',
      '$.id: must be a string',
    ],
    ['a broken toolset', { ...TOOLSET, tools: [{ name: 'a b' }] }, '$.tools[0].description: is required'],
    ['a broken report', { ...REPORT, callbacks: 3 }, 'like a report but', '$.callbacks: must be an array'],
    ['a broken session', { ...SESSION_REPORT, forgotten: 'no' }, '$.forgotten: '],
    ['a broken ToolCallResult', { ...LMKIT, ResultJson: 1 }, '$.ResultJson: must be a string'],
    ['a broken call', { kind: 'tool_result', tool_req: {} }, '$.tool_req.tool_name: is required'],
    ['a broken batch', { type: 'batch', results: [SETTLED, {}] }, '$.results[1].kind: is required'],
    ['broken changes', { status: 'idle', new_events: [{}] }, '$.new_events[0].type: is required'],
    ['a broken CallToolResult', { content: [{}] }, '$.content[0].type: is required'],
    ['a broken JSON-RPC result', { jsonrpc: '2.0', result: {} }, '$.result.content: is required'],
    ['a broken JSON-RPC error', { jsonrpc: '2.0', error: 1 }, '$.error: must have a code'],
    ['a truncated transcript', '{"kind":"header","format":"protocol-cli-tr', 'line 1: not valid JSON'],
    ['a broken diff', `a message\n\n${DIFF}stray\n`, 'line 8: "stray"'],
    ['many errors', { ...TOOLSET, tools: Array.from({ length: 20 }, () => ({})) }, 'and 52 more'],
  ])('%s', async (_, what, ...messages) => {
    const { status, stdout, stderr } = await render(what);
    expect([status, stdout]).toEqual([2, '']);
    for (const message of messages) expect(stderr).toContain(message);
  });

  test('a bare diff has no dialect', async () => {
    expect((await render(DIFF, '--dialect', 'rap')).stderr).not.toContain('diff');
  });
});

describe('--as', () => {
  const NUMBERS = '{"n": 12345678901234567890, "f":1.0}';
  const settled = `{"kind":"tool_result","tool_req":{"tool_name":"l","args":{},"id":"c"},"result":${NUMBERS}}`;
  const result = `{"type":"tool_result","group_id":"g","id":"i","text":"a","x":${NUMBERS}}`;
  const strange = JSON.stringify({ ...RESULT, extra: [1] });

  test.each<[string, DialectName, string]>([
    [strange, 'rap', strange],
    [settled, 'session', settled],
    [`{"type":"batch",\n"results":[${settled}]}`, 'session', `{"type":"batch",\n"results":[${settled}]}`],
    [`{"content":[],"structuredContent":${NUMBERS}}`, 'mcp', `{"content":[],"structuredContent":${NUMBERS}}`],
    [
      `{"jsonrpc":"2.0","id":1,"result":{"content":[],"_meta":{"a":1.0}}}`,
      'mcp',
      '{\n  "content": [],\n  "_meta": {\n    "a": 1.0\n  }\n}',
    ],
    [
      `{"calls":[{"warnings":[],"result":${result}},{"warnings":[],"result":${result}}],"warnings":[]}`,
      'rap',
      `${result}\n${result}`,
    ],
    [`${settled}\n${settled}\n`, 'session', `${settled}\n${settled}`],
    [
      `[${settled.replaceAll(',', ',\r\n ')},\n${settled}]`,
      'session',
      `${settled.replace(' 1', '1').replace(' "f"', '"f"')}\n${settled}`,
    ],
    [settled.replace('"c"', '"\u202e"'), 'session', settled.replace('"c"', String.raw`"\u202e"`)],
    [JSON.stringify(SESSION_REPORT), 'session', JSON.stringify(FAILED, null, 2)],
  ])('%s in its own format %s is unchanged, to the last digit', async (text, to, lines) => {
    expect(await render(text, '--as', to)).toMatchObject({ stdout: `${lines}\n`, stderr: '' });
  });

  const base = { invocation: INVOCATION, warnings: [] };
  const ours = { type: 'timeout', durationMs: 5, basis: 'ours' };
  test.each<[object, DialectName, object[]]>([
    [SETTLED, 'lmkit', [{ Type: 'Success', ToolCallId: 'call_1' }]],
    [BATCH, 'lmkit', [{ Type: 'Success' }, { Type: 'Error' }]],
    [SESSION_REPORT, 'lmkit', [{ Type: 'Timeout', ToolName: 'lookup' }]],
    [{ ...base, outcome: null, result: RESULT }, 'session', [{ tool_req: { tool_name: 'edit_file' } }]],
    [{ ...base, outcome: ours, result: null }, 'lmkit', [{ Type: 'Timeout', ToolName: 'edit_file' }]],
  ])('%j as %s', async (what, to, objects) => {
    const { stdout } = await render(what, '--as', to);
    const texts = objects.length === 1 ? [stdout] : stdout.trim().split('\n');
    expect(texts.map(text => JSON.parse(text))).toMatchObject(objects);
  });

  const CHANGED = 'gets another number: the number 12345678901234567890 cannot be held exactly';
  const EMPTY = 'fill in the ids of the invocation, or no runtime will match this result';
  test.each<[string | object, DialectName, string]>([
    [settled, 'lmkit', `a ToolCallResult of LM-Kit ${CHANGED}`],
    [`{"type":"batch","results":[${settled}]}`, 'lmkit', `a ToolCallResult of LM-Kit ${CHANGED}`],
    [`[${settled}]`, 'mcp', `a CallToolResult of MCP ${CHANGED}`],
    [{ ...LMKIT, Type: 0, ResultJson: NUMBERS }, 'session', `a settled call of an agent session ${CHANGED}`],
    [MCP, 'session', 'a settled call of an agent session has an empty tool_name: the name of the tool'],
    [{ ...RESULT, display_as: [] }, 'lmkit', 'cannot carry what people see (display_as, 0 segments)'],
    [MCP, 'rap', `id and group_id are empty: ${EMPTY}`],
    [LMKIT, 'rap', `group_id is empty: ${EMPTY}`],
    [{ ...RESULT, id: '' }, 'rap', `id is empty: ${EMPTY}`],
  ])('%j as %s: losses are warnings', async (what, to, message) => {
    expect((await render(what, '--as', to)).stderr).toContain(message);
  });

  test.each([[OAUTH], [CHOICE], [EVENT], [INVOCATION], [{ type: 'batch', results: [] }], [REPORT]])(
    '%j contains no answer',
    async what => {
      const { status, stderr } = await render(what, '--as', 'lmkit');
      expect(status).toBe(2);
      expect(stderr).toContain('no tool result in standard input that --as lmkit can write');
    },
  );
});

test.each([20, 40, 79, 100, 160])('no row is wider than %i cells', async width => {
  const odd = '漢👍\t\u001b a'.repeat(70);
  const what = { ...RESULT, text: odd, display_as: [{ type: 'text', content: `${odd}\n${odd}` }] };
  const { stdout } = await render(what, '--width', String(width));
  for (const row of stdout.split('\n')) expect(stringWidth(row)).toBeLessThanOrEqual(width);
});
