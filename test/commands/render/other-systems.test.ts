import { describe, expect, test } from 'vitest';
import { recognise } from '../../../src/commands/render/recognise.js';
import { translated } from '../../../src/commands/render/run.js';
import type { Saved } from '../../../src/commands/render/saved.js';
import { DIALECT_NAMES, type DialectName } from '../../../src/dialects/dialect.js';
import { INVOCATION, OAUTH, RESULT } from '../../events/build.js';
import { errorOf } from '../../support/failing.js';

const VIEWED = { supports: new Set(['diff', 'text']), isPrivate: false };
const TOOL_REQ = { tool_name: 'lookup', args: {}, id: 'call_1' };
const SETTLED = { kind: 'tool_result', tool_req: TOOL_REQ, result: { a: 1 } };
const FAILED = { kind: 'error_event', error: 'no', origin: 'custom_tools', tool_req: TOOL_REQ };
const BATCH = { type: 'batch', results: [SETTLED, FAILED] };
const LMKIT = { Type: 'Timeout', ResultJson: '{"timeout":{"durationMs":5}}', ToolCallId: 'c', ToolName: 't' };
const MCP = { content: [{ type: 'text', text: 'a' }], isError: false };

const show = (what: object, dialect: DialectName | null = null): Promise<Saved> =>
  recognise({ name: 'x', bytes: Buffer.from(JSON.stringify(what)), dialect });

describe('what answers a call on another wire', () => {
  test.each<[object, DialectName, object]>([
    [
      SETTLED,
      'session',
      {
        kind: 'tool_result',
        message: SETTLED,
        outcome: { type: 'success', basis: 'declared' },
        llm: { text: '{"a":1}' },
      },
    ],
    [
      FAILED,
      'session',
      { kind: 'error_event', outcome: { type: 'error', message: 'no' }, llm: { text: 'no' } },
    ],
    [{ ...SETTLED, kind: 'later' }, 'session', { kind: 'later', outcome: { type: 'unknown', raw: 'later' } }],
    [BATCH, 'session', { kind: 'batch', results: [{ message: SETTLED }, { message: FAILED }] }],
    [
      { status: 'idle', new_events: [] },
      'session',
      { kind: 'changes', message: { status: 'idle', new_events: [] }, pending: null },
    ],
    [
      LMKIT,
      'lmkit',
      { kind: 'ToolCallResult', outcome: { type: 'timeout', durationMs: 5, basis: 'declared' } },
    ],
    [
      { ...LMKIT, Type: 9 },
      'lmkit',
      { outcome: { type: 'unknown', raw: 9 }, warnings: [{ message: 'unknown Type' }] },
    ],
    [MCP, 'mcp', { kind: 'CallToolResult', message: MCP, outcome: { type: 'success', basis: 'declared' } }],
    [{ structuredContent: 1 }, 'mcp', { kind: 'CallToolResult', llm: { text: '1' } }],
  ])('%j is seen for what it is, and for nothing else', async (what, dialect, report) => {
    expect((await show(what)).report(VIEWED)).toMatchObject(report);
    expect((await show(what, dialect)).report(VIEWED)).toMatchObject(report);
    for (const other of DIALECT_NAMES.filter(each => each !== dialect))
      expect((await errorOf(() => show(what, other))).code).toBe('unreadable-file');
  });

  test('a CallToolResult has the two panes of invoke --mcp, any other what the model gets', async () => {
    const panesOf = async (what: object) =>
      (await show(what)).sections(VIEWED).flatMap(({ kind }) => (kind === 'lines' ? [] : [kind]));
    expect(await panesOf(MCP)).toEqual(['panes']);
    expect(await panesOf(LMKIT)).toEqual(['pane']);
    expect(await panesOf(BATCH)).toEqual(['pane', 'pane']);
  });

  test.each<[object, string[]]>([
    [{ ...LMKIT, ResultJson: 1 }, ['$.ResultJson: must be a string']],
    [{ kind: 'tool_result', tool_req: {} }, ['$.tool_req.tool_name: is required']],
    [{ type: 'batch', results: [SETTLED, {}] }, ['$.results[1].kind: is required']],
    [{ type: 'batch', results: {} }, ['$.results: must be an array']],
    [{ status: 'idle', new_events: [{}] }, ['$.new_events[0].type: is required']],
    [{ content: [{}] }, ['$.content[0].type: is required']],
  ])('%j is refused with its place', async (what, faults) => {
    expect((await errorOf(() => show(what))).faults).toEqual(faults);
  });
});

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
      key: 'call_1',
      tool_name: 'lookup',
      id: 'call_1',
      round: 0,
      outcome: { type: 'timeout', durationMs: 5, basis: 'ours' },
      body: FAILED,
      posted: { state: 'taken', status: 202, attempts: 1 },
      ms: 3,
    },
    { key: '#1', tool_name: 'late', id: null, round: 0, outcome: null, posted: null, ms: null },
  ],
  forgotten: 0,
  warnings: [{ message: 'odd' }],
};

describe('the report of an agent session', () => {
  const textOf = async (what: object) =>
    (await show(what))
      .sections(VIEWED)
      .flatMap(section => (section.kind === 'lines' ? section.lines : []))
      .map(line => line.map(({ text }) => text).join(''));

  test('shows the session, its calls, the answer, and comes out as it went in', async () => {
    const lines = await textOf(SESSION_REPORT);
    for (const word of [
      'SESSION s1  completed · 1 round',
      'CALL of call #1 by late',
      '  taken',
      'done',
      '! odd',
    ])
      expect(lines).toContain(word);
    expect((await show(SESSION_REPORT)).report(VIEWED)).toEqual(SESSION_REPORT);
  });

  test('a broken one is refused with its place', async () => {
    const error = await errorOf(() => show({ ...SESSION_REPORT, forgotten: 'no' }));
    expect(error.faults).toEqual([expect.stringMatching(/^\$\.forgotten: /)]);
  });
});

test.each([
  [MCP, 'id and group_id are empty: fill in the ids of the invocation, or no runtime will match this result'],
  [LMKIT, 'group_id is empty: fill in the ids of the invocation, or no runtime will match this result'],
  [
    { ...RESULT, id: '' },
    'id is empty: fill in the ids of the invocation, or no runtime will match this result',
  ],
])('--as rap warns of empty ids: %j', async (what, message) => {
  const text = () => JSON.stringify(what);
  expect(translated(await show(what), 'rap', { name: 'x', text }).warnings).toContainEqual({ message });
});

test('--as rap of a whole result has nothing to warn of', async () => {
  const text = () => JSON.stringify(RESULT);
  expect(translated(await show(RESULT), 'rap', { name: 'x', text }).warnings).toEqual([]);
});

describe('a response of JSON-RPC', () => {
  test('is its result', async () => {
    const saved = await show({ jsonrpc: '2.0', id: 1, result: MCP });
    expect(saved.report(VIEWED)).toMatchObject({ kind: 'CallToolResult', message: MCP });
  });

  test('or its error', async () => {
    const saved = await show({ jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'no such tool' } });
    expect(saved.report(VIEWED)).toMatchObject({
      outcome: { type: 'error', code: '-32602', message: 'no such tool', basis: 'declared' },
      llm: { text: 'Error: no such tool' },
    });
  });

  test.each<[object, string]>([
    [{ result: {} }, '$.result.content: is required'],
    [{ error: 1 }, '$.error: must have a code, which is a number, and a message'],
  ])('%j is refused with its place', async (members, fault) => {
    expect((await errorOf(() => show({ jsonrpc: '2.0', id: 1, ...members }))).faults).toEqual([fault]);
  });
});

test('what --as writes of several is read again, and so is a list', async () => {
  const lines = [LMKIT, SETTLED, MCP, RESULT].map(each => JSON.stringify(each));
  for (const text of [lines.join('\n'), `[${lines.join(',\n')}]`]) {
    const saved = await recognise({ name: 'x', bytes: Buffer.from(text), dialect: null });
    expect(saved.report(VIEWED)).toMatchObject({
      kind: 'messages',
      messages: [
        { kind: 'ToolCallResult' },
        { kind: 'tool_result' },
        { kind: 'CallToolResult' },
        { kind: 'tool_result' },
      ],
    });
  }
});

describe('--as', () => {
  const written = async (text: string, to: DialectName) => {
    const saved = await recognise({ name: 'x', bytes: Buffer.from(text), dialect: null });
    return translated(saved, to, { name: 'x', text: () => text });
  };
  const as = (what: object, to: DialectName) => written(JSON.stringify(what), to);

  test('one answer is one object, several are a line each', async () => {
    const one = await as(SETTLED, 'lmkit');
    expect(one.lines).toHaveLength(1);
    expect(JSON.parse(one.lines.join(''))).toMatchObject({ Type: 'Success', ToolCallId: 'call_1' });
    const two = await as(BATCH, 'lmkit');
    expect(two.lines.map(line => JSON.parse(line))).toMatchObject([{ Type: 'Success' }, { Type: 'Error' }]);
  });

  test('what is on its own wire comes out as it came, without a loss', async () => {
    const strange = { ...RESULT, extra: [1] };
    expect(await as(strange, 'rap')).toEqual({ lines: [JSON.stringify(strange)], warnings: [] });
  });

  const NUMBERS = '{"n": 12345678901234567890, "f":1.0}';
  const settled = `{"kind":"tool_result","tool_req":{"tool_name":"l","args":{},"id":"c"},"result":${NUMBERS}}`;
  const result = `{"type":"tool_result","group_id":"g","id":"i","text":"a","x":${NUMBERS}}`;

  test.each<[string, DialectName, string]>([
    [settled, 'session', settled],
    [
      `{"type":"batch",\n"results":[${settled},${settled}]}`,
      'session',
      `{"type":"batch",\n"results":[${settled},${settled}]}`,
    ],
    ['{"type":"batch","results":[]}', 'session', '{"type":"batch","results":[]}'],
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
    [`[${settled},\n${settled}]`, 'session', `${settled}\n${settled}`],
  ])('%s on its own wire %s is as it was written, to the last digit', async (text, to, lines) => {
    const { lines: out, warnings } = await written(text, to);
    expect(out.join('\n')).toBe(lines);
    expect(warnings).toEqual([]);
  });

  test('the report of a session has its answers, and knows more of a failure than was posted', async () => {
    expect((await as(SESSION_REPORT, 'session')).lines).toEqual([JSON.stringify(FAILED, null, 2)]);
    const [lmkit = ''] = (await as(SESSION_REPORT, 'lmkit')).lines;
    expect(JSON.parse(lmkit)).toMatchObject({ Type: 'Timeout', ToolName: 'lookup' });
  });

  test('what a terminal would obey is written as an escape', async () => {
    const { lines } = await written(settled.replace('"c"', '"\u202e"'), 'session');
    expect(lines).toEqual([settled.replace('"c"', String.raw`"\u202e"`)]);
  });

  const CHANGED = 'gets another number: the number 12345678901234567890 cannot be held exactly';

  test.each<[string, DialectName, string]>([
    [settled, 'lmkit', `a ToolCallResult of LM-Kit ${CHANGED}`],
    [`{"type":"batch","results":[${settled}]}`, 'lmkit', `a ToolCallResult of LM-Kit ${CHANGED}`],
    [`[${settled}]`, 'mcp', `a CallToolResult of MCP ${CHANGED}`],
    [
      JSON.stringify({ Type: 0, ResultJson: NUMBERS, ToolCallId: 'c', ToolName: 't' }),
      'session',
      `a settled call of an agent session ${CHANGED}`,
    ],
  ])('%s for %s: a number that became another one is a loss', async (text, to, message) => {
    expect((await written(text, to)).warnings).toContainEqual({ message });
  });

  test('a wire that needs the name of the tool is not given none in silence', async () => {
    const message =
      'a settled call of an agent session has an empty tool_name: the name of the tool is not known';
    expect((await as(MCP, 'session')).warnings).toContainEqual({ message });
    expect((await as(LMKIT, 'session')).warnings).not.toContainEqual({ message });
  });

  test('what got lost is a warning', async () => {
    const { warnings } = await as({ ...RESULT, display_as: [] }, 'lmkit');
    expect(warnings).toContainEqual({
      message: 'a ToolCallResult of LM-Kit cannot carry what people see (display_as, 0 segments)',
    });
  });

  test('a report has the answer of its call, and an outcome of ours where it has no result', async () => {
    const base = { invocation: INVOCATION, warnings: [] };
    const withResult = await as({ ...base, outcome: null, result: { ...RESULT, extra: 1 } }, 'rap');
    expect(JSON.parse(withResult.lines.join(''))).toEqual({ ...RESULT, extra: 1 });
    const session = await as({ ...base, outcome: null, result: RESULT }, 'session');
    expect(JSON.parse(session.lines.join(''))).toMatchObject({ tool_req: { tool_name: 'edit_file' } });
    const ours = { type: 'timeout', durationMs: 5, basis: 'ours' };
    const timedOut = await as({ ...base, outcome: ours, result: null }, 'lmkit');
    expect(JSON.parse(timedOut.lines.join(''))).toMatchObject({ Type: 'Timeout', ToolName: 'edit_file' });
    const many = await as(
      {
        calls: [
          { ...base, result: RESULT },
          { ...base, result: RESULT },
        ],
        summary: {},
        warnings: [],
      },
      'mcp',
    );
    expect(many.lines).toHaveLength(2);
  });

  test.each<[object]>([
    [OAUTH],
    [INVOCATION],
    [{ status: 'idle', new_events: [] }],
    [{ type: 'batch', results: [] }],
    [{ warnings: [], error: { code: 'unreachable', message: 'no' } }],
  ])('%j holds none', async what => {
    expect(await errorOf(() => as(what, 'lmkit'))).toMatchObject({
      code: 'usage',
      message: 'no tool result in x that --as lmkit can write',
    });
  });
});
