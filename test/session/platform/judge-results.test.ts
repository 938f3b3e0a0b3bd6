import { describe, expect, test } from 'vitest';
import { batch, begun, errorEvent, TWO_ROUNDS, toolResult } from './build.js';

type Begun = ReturnType<typeof begun>;
const judge = (session: Begun, body: unknown) => session.judge(body);
const withSwitches = (switches: object) => begun(TWO_ROUNDS, switches);
const keysOf = ({ settles }: ReturnType<typeof judge>) => settles.map(({ call }) => call.key);
const cancelled = (it: Begun = begun()) => {
  it.session.cancel();
  return it;
};

describe('what is accepted', () => {
  test.each<[string, unknown, string[]]>([
    ['a tool_result', toolResult('call_1'), ['call_1']],
    ['an error_event', errorEvent('call_1'), ['call_1']],
    ['a result that is null', toolResult('call_1', { result: null }), ['call_1']],
    ['a result that is left out', toolResult('call_1', {}), ['call_1']],
    ['a result of any JSON', toolResult('call_1', { result: [{ a: [1, false] }] }), ['call_1']],
    ['a batch of both', batch(toolResult('call_1'), errorEvent('none')), ['call_1', '#1']],
    ['a batch of one', batch(toolResult('call_1')), ['call_1']],
    ['calls without an id, the first that wait', batch(toolResult('none'), toolResult('none')), ['#1', '#2']],
    ['what is not known beside it', { ...toolResult('call_1'), more: 1 }, ['call_1']],
  ])('%s', (_, body, keys) => {
    const judgement = judge(begun(), body);
    expect(judgement).toMatchObject({ status: 202, warnings: [] });
    expect(judgement.detail).toBeUndefined();
    expect(keysOf(judgement)).toEqual(keys);
  });

  test('a result that is left out is not null', () => {
    const [absent] = judge(begun(), toolResult('call_1', {})).settles;
    const [nil] = judge(begun(), toolResult('call_1', { result: null })).settles;
    expect(absent?.answer).not.toHaveProperty('result');
    expect(nil?.answer).toHaveProperty('result', null);
  });

  test('an id that is left out is as one that is null', () => {
    const { id: _, ...tool_req } = toolResult('none').tool_req;
    expect(keysOf(judge(begun(), { ...toolResult('none'), tool_req }))).toEqual(['#1']);
  });

  test('an empty batch answers nothing, and that is said', () => {
    expect(judge(begun(), batch())).toEqual({
      status: 202,
      settles: [],
      warnings: [{ message: 'an empty batch of results answers nothing' }],
    });
  });
});

describe('what is refused names its field', () => {
  const { tool_req: _, ...noRequest } = toolResult('call_1');
  const deep = `${'['.repeat(200)}${']'.repeat(200)}`;
  test.each<[string, unknown, string, (string | number)[], unknown?]>([
    ['no JSON', '{"kind":', 'json_invalid', ['body']],
    ['nothing at all', '', 'json_invalid', ['body']],
    ['JSON that is too deep', deep, 'json_invalid', ['body']],
    ['a list', [], 'dict_type', ['body'], []],
    ['null', 'null', 'dict_type', ['body'], null],
    ['a text', '"shipped"', 'dict_type', ['body'], 'shipped'],
    ['an empty object', {}, 'missing', ['body', 'kind']],
    ['another type', { type: 'list', results: [] }, 'literal_error', ['body', 'type'], 'list'],
    [
      'another kind',
      { ...toolResult('call_1'), kind: 'result' },
      'literal_error',
      ['body', 'kind'],
      'result',
    ],
    ['a kind of another type', { ...toolResult('call_1'), kind: 1 }, 'literal_error', ['body', 'kind'], 1],
    ['no tool_req', noRequest, 'missing', ['body', 'tool_req']],
    [
      'a tool_req that is none',
      { ...noRequest, tool_req: 'call_1' },
      'dict_type',
      ['body', 'tool_req'],
      'call_1',
    ],
    [
      'a tool_req without a name',
      { ...noRequest, tool_req: { args: {}, id: 'call_1' } },
      'missing',
      ['body', 'tool_req', 'tool_name'],
    ],
    [
      'args that are no object',
      { ...noRequest, tool_req: { tool_name: 'a', args: [1], id: 'call_1' } },
      'dict_type',
      ['body', 'tool_req', 'args'],
      [1],
    ],
    [
      'an id that is a number',
      { ...noRequest, tool_req: { tool_name: 'a', args: {}, id: 7 } },
      'string_type',
      ['body', 'tool_req', 'id'],
      7,
    ],
    [
      'an error_event without an error',
      errorEvent('call_1', { error: undefined }),
      'missing',
      ['body', 'error'],
    ],
    [
      'an error that is no text',
      errorEvent('call_1', { error: { a: 1 } }),
      'string_type',
      ['body', 'error'],
      { a: 1 },
    ],
    [
      'an error_event without an origin',
      errorEvent('call_1', { origin: undefined }),
      'missing',
      ['body', 'origin'],
    ],
    ['a batch without results', { type: 'batch' }, 'missing', ['body', 'results']],
    ['results that are no list', { type: 'batch', results: {} }, 'list_type', ['body', 'results'], {}],
    ['a result that is none', batch(toolResult('call_1'), 1), 'dict_type', ['body', 'results', 1], 1],
    ['a batch in a batch', batch(batch()), 'missing', ['body', 'results', 0, 'kind']],
    [
      'an id that nobody has',
      toolResult('unknown'),
      'unknown_tool_req',
      ['body', 'tool_req', 'id'],
      'call_9',
    ],
    [
      'an id of a later round',
      toolResult('call_2'),
      'unknown_tool_req',
      ['body', 'tool_req', 'id'],
      'call_2',
    ],
    [
      'no id, and arguments that nobody has',
      { ...noRequest, tool_req: { tool_name: 'lookup_order', args: {}, id: null } },
      'unknown_tool_req',
      ['body', 'tool_req', 'id'],
      null,
    ],
    [
      'no id, for a call that has one',
      { ...noRequest, tool_req: { tool_name: 'lookup_order', args: { order_id: 'A1' } } },
      'unknown_tool_req',
      ['body', 'tool_req', 'id'],
      null,
    ],
    [
      'one unknown id of two',
      batch(toolResult('call_1'), toolResult('unknown')),
      'unknown_tool_req',
      ['body', 'results', 1, 'tool_req', 'id'],
      'call_9',
    ],
    [
      'the same call twice',
      batch(toolResult('call_1'), toolResult('call_1')),
      'settled_tool_req',
      ['body', 'results', 1, 'tool_req', 'id'],
      'call_1',
    ],
  ])('%s', (_, body, type, loc, input) => {
    const { status, detail, settles } = judge(begun(), body);
    expect(status).toBe(422);
    expect(detail).toEqual(
      [
        {
          type,
          loc,
          msg: expect.stringMatching(/\S/),
          input: input === undefined ? expect.anything() : input,
        },
      ].map(each => (type === 'missing' ? { ...each, input: null } : each)),
    );
    expect(settles).toEqual([]);
  });

  test('every fault of a batch at once, and no more than a hundred', () => {
    const { detail } = judge(begun(), batch(...Array.from({ length: 500 }, () => ({}))));
    expect(detail).toHaveLength(100);
    expect(detail?.[99]).toMatchObject({ loc: ['body', 'results', 99, 'kind'] });
  });

  test('what was there is told by its beginning, however long it is', () => {
    const { detail } = judge(begun(), { ...toolResult('call_1'), kind: 'x'.repeat(100_000) });
    expect(JSON.stringify(detail).length).toBeLessThan(500);
  });
});

describe('the order of judging', () => {
  const finished = cancelled();
  test.each<[string, Begun, unknown, number, unknown]>([
    [
      'the format comes before the end',
      finished,
      { kind: 'x' },
      422,
      [expect.objectContaining({ type: 'literal_error' })],
    ],
    [
      'the end comes before an unknown id',
      finished,
      toolResult('unknown'),
      409,
      'Session has already finished.',
    ],
    [
      'an unknown id comes last',
      begun(),
      toolResult('unknown'),
      422,
      [expect.objectContaining({ type: 'unknown_tool_req' })],
    ],
  ])('%s', (_, session, body, status, detail) => {
    expect(judge(session, body)).toMatchObject({ status, detail, settles: [] });
  });
});

describe('the switches', () => {
  const mixed = batch(toolResult('call_1'), toolResult('unknown'), { kind: 'x' }, errorEvent('none'));

  test('a batch is atomic: with one fault nothing of it is applied', () => {
    expect(judge(begun(), mixed).settles).toEqual([]);
  });

  test('batch: each applies what is valid, and tells of the rest', () => {
    const judgement = judge(withSwitches({ batch: 'each' }), mixed);
    expect(judgement).toMatchObject({
      status: 422,
      detail: [{ type: 'literal_error' }, { type: 'unknown_tool_req' }].reverse(),
    });
    expect(keysOf(judgement)).toEqual(['call_1', '#1']);
  });

  test('batch: each applies nothing of what could not be read at all, nor to a session that has finished', () => {
    const each = withSwitches({ batch: 'each' });
    expect(judge(each, { type: 'batch', results: 'x' }).settles).toEqual([]);
    expect(judge(cancelled(each), mixed)).toMatchObject({ status: 422, settles: [] });
  });

  test('settled: 202 takes a repeated result, and the first one counts', () => {
    const judgement = judge(
      withSwitches({ settled: 202 }),
      batch(toolResult('call_1'), errorEvent('call_1')),
    );
    expect(judgement).toMatchObject({ status: 202, warnings: [{ key: 'call_1' }] });
    expect(judgement.settles.map(({ answer }) => answer.kind)).toEqual(['tool_result']);
  });

  const otherArgs = {
    ...toolResult('call_1'),
    tool_req: { tool_name: 'lookup', args: { order_id: 'B' }, id: 'call_1' },
  };

  test('tool_req: lenient warns of what is not echoed whole', () => {
    const judgement = judge(begun(), otherArgs);
    expect(judgement).toMatchObject({
      status: 202,
      warnings: [{ key: 'call_1', message: expect.stringContaining('tool_name and args') }],
    });
    expect(keysOf(judgement)).toEqual(['call_1']);
  });

  test('tool_req: exact refuses it, and names the fields', () => {
    expect(judge(withSwitches({ tool_req: 'exact' }), otherArgs)).toMatchObject({
      status: 422,
      detail: [
        { type: 'tool_req_mismatch', loc: ['body', 'tool_req', 'tool_name'], input: 'lookup' },
        { type: 'tool_req_mismatch', loc: ['body', 'tool_req', 'args'], input: { order_id: 'B' } },
      ],
      settles: [],
    });
  });

  test('tool_req: exact does not mind the order of keys, nor empty arguments that are left out', () => {
    const session = begun(
      {
        rounds: [
          {
            calls: [
              { tool_name: 'a', id: 'x' },
              { tool_name: 'b', args: { p: 1, q: 2 }, id: 'y' },
            ],
          },
        ],
      },
      { tool_req: 'exact' },
    );
    const body = batch(
      { kind: 'tool_result', tool_req: { tool_name: 'a', args: {}, id: 'x' } },
      { kind: 'tool_result', tool_req: { id: 'y', args: { q: 2, p: 1 }, tool_name: 'b' } },
    );
    expect(judge(session, body).status).toBe(202);
  });
});

test('keys that mean something to JavaScript are compared like any others, and change nothing', () => {
  const session = begun(
    { rounds: [{ calls: [{ tool_name: 'a', args: JSON.parse('{"__proto__":{"x":1}}'), id: null }] }] },
    { tool_req: 'exact' },
  );
  const posted = (args: string) =>
    judge(session, `{"kind":"tool_result","tool_req":{"tool_name":"a","args":${args}}}`);
  expect(posted('{"__proto__":{"x":1}}').status).toBe(202);
  expect(posted('{"__proto__":{"x":2}}').status).toBe(422);
  expect(posted('{}').status).toBe(422);
  expect({}).not.toHaveProperty('x');
});

test('a key that is there twice is accepted, and told', () => {
  const body = JSON.stringify(toolResult('call_1')).replace('{', '{"kind":"error_event",');
  expect(judge(begun(), body)).toMatchObject({
    status: 202,
    warnings: [{ message: expect.stringContaining('kind') }],
  });
});
