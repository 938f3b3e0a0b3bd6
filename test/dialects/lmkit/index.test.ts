import { describe, expect, test } from 'vitest';
import { lmkitDialect } from '../../../src/dialects/lmkit.js';
import type { Outcome } from '../../../src/protocol/outcome.js';
import { dialectContract, readSound } from '../contract.js';

dialectContract(lmkitDialect);

const IDS = { ToolCallId: 'call_1', ToolName: 'deploy' };

/** Seed 002: each type with its number, its recommended payload and its outcome. */
const SEED: [string, number, string, Outcome][] = [
  ['Success', 0, '{"instances": [1], "count": 1}', { type: 'success' }],
  [
    'Error',
    1,
    '{"error": {"message": "...", "code": "OPTIONAL_CODE", "type": "OptionalType"}}',
    { type: 'error', message: '...', code: 'OPTIONAL_CODE', errorType: 'OptionalType' },
  ],
  [
    'Canceled',
    2,
    '{"canceled": {"reason": "...", "by": "user"}}',
    { type: 'canceled', reason: '...', by: 'user' },
  ],
  ['Timeout', 3, '{"timeout": {"durationMs": 30000}}', { type: 'timeout', durationMs: 30_000 }],
  [
    'Denied',
    4,
    '{"denied": {"tool": "...", "reason": "..."}}',
    { type: 'denied', tool: '...', reason: '...' },
  ],
];

describe('seed 002: every result type with its payload', () => {
  test.each(SEED)('%s (%i): %s', (name, number, ResultJson, outcome) => {
    for (const Type of [name, name.toLowerCase(), name.toUpperCase(), number]) {
      const { answer, notes, text } = readSound(lmkitDialect, { Type, ResultJson, ...IDS });
      expect(answer).toEqual({
        call: { id: 'call_1', tool: 'deploy' },
        outcome: { ...outcome, basis: 'declared' },
        payload: JSON.parse(ResultJson),
        beside: {},
      });
      expect(notes).toEqual([]);
      expect(text).toBe(ResultJson);
      expect(lmkitDialect.write(answer)).toEqual({
        body: { Type: name, ResultJson: JSON.stringify(JSON.parse(ResultJson)), ...IDS },
        warnings: [],
      });
    }
  });

  test.each(['{"a":1}', '[1,2]', '"a text"', '1.5', 'true', 'null'])(
    'success is any JSON value: %s',
    ResultJson => {
      const { answer } = readSound(lmkitDialect, { Type: 'Success', ResultJson, ...IDS });
      expect(answer.payload).toEqual(JSON.parse(ResultJson));
      expect(lmkitDialect.write(answer).body).toMatchObject({ ResultJson });
    },
  );
});

test.each([
  ['{ "port": 8080, "big": 12345678901234567890 }', '{ "port": 8080, "big": 12345678901234567890 }'],
  ['5', '5'],
  ['done', '"done"'],
  ['{"port":', '"{\\"port\\":"'],
])('writes a text that is valid JSON as that JSON: %s', (payload, ResultJson) => {
  const outcome = { type: 'success', basis: 'assumed' } as const;
  const { body, warnings } = lmkitDialect.write({ call: { id: 'call_1' }, outcome, payload });
  expect(body).toMatchObject({ Type: 'Success', ResultJson });
  expect(warnings).toMatchObject([]);
});

describe('a later type is unknown, and is written unchanged', () => {
  test.each(['Deferred', 'Success ', '', 5, -1, 1.5])('%j', Type => {
    const native = { Type, ResultJson: '{"until":1}', ...IDS };
    const { answer, notes } = readSound(lmkitDialect, native);
    expect(answer.outcome).toEqual({ type: 'unknown', raw: Type, basis: 'declared' });
    expect(notes).toEqual(['unknown Type']);
    expect(lmkitDialect.write(answer)).toEqual({ body: native, warnings: [] });
  });

  test('an unknown outcome of another format is not a type with the same name in LM-Kit', () => {
    const { body, warnings } = lmkitDialect.write({
      call: { id: null },
      outcome: { type: 'unknown', raw: 'success', basis: 'declared' },
      payload: 'x',
    });
    expect(body).toMatchObject({ Type: 'Error', ToolCallId: null, ToolName: null });
    expect(warnings).toMatchObject([{ feature: 'unknown' }]);
  });
});

describe('the type is declared: null and additional members do not hide documented ones', () => {
  const readPayload = (Type: string, payload: object) =>
    readSound(lmkitDialect, { Type, ResultJson: JSON.stringify(payload), ToolCallId: 'c', ToolName: 't' })
      .answer;

  test('null counts as absent', () => {
    const { outcome, beside } = readPayload('Error', { error: { message: 'x', code: null, type: null } });
    expect(outcome).toEqual({ type: 'error', message: 'x', basis: 'declared' });
    expect(beside).toEqual({});
  });

  test.each([
    [
      'Error',
      { error: { message: 'x', details: [1] } },
      { type: 'error', message: 'x' },
      '{"error":{"details":[1]}}',
    ],
    [
      'Timeout',
      { timeout: { durationMs: 5, tries: 2 }, v: 1 },
      { type: 'timeout', durationMs: 5 },
      '{"v":1,"timeout":{"tries":2}}',
    ],
  ])('keeps additional members of %s', (type, payload, outcome, rest) => {
    const answer = readPayload(type, payload);
    expect(answer).toMatchObject({ outcome, beside: { 'other fields': { ResultJson: rest } } });
  });
});

describe('reads a payload that differs from the documented one', () => {
  test.each<[string, string, object, RegExp]>([
    ['Success', 'plain words', { outcome: { type: 'success' }, payload: 'plain words' }, /not valid JSON/],
    ['Error', 'plain words', { outcome: { type: 'error', message: 'plain words' } }, /not valid JSON/],
    [
      'Error',
      '"a text"',
      { outcome: { type: 'error', message: 'a text' } },
      /not what is documented for Error/,
    ],
    [
      'Error',
      '{"error":{"message":7}}',
      { outcome: { type: 'error', message: '{"error":{"message":7}}' } },
      /not what is documented for Error/,
    ],
    ['Canceled', '"enough"', { outcome: { type: 'canceled', reason: 'enough' } }, /documented for Canceled/],
    ['Denied', '{}', { outcome: { type: 'denied', reason: '{}' } }, /documented for Denied/],
    [
      'Timeout',
      '{"timeout":"long"}',
      { outcome: { type: 'timeout' }, beside: { 'other fields': { ResultJson: '{"timeout":"long"}' } } },
      /documented for Timeout/,
    ],
    ['Success', `${'['.repeat(300)}${']'.repeat(300)}`, { outcome: { type: 'success' } }, /deeper than 128/],
    ['Success', '{"a":1,"a":2}', { payload: { a: 2 } }, /twice/],
  ])('%s %s', (Type, ResultJson, answer, note) => {
    const reading = readSound(lmkitDialect, { Type, ResultJson, ...IDS });
    expect(reading.answer).toMatchObject(answer);
    expect(reading.notes.join()).toMatch(note);
  });
});

test.each<[unknown, string[]]>([
  [null, ['$: must be an object']],
  [{}, ['$.Type: must be a name or a number', '$.ResultJson: is required']],
  [
    { Type: null, ResultJson: null },
    ['$.Type: must be a name or a number', '$.ResultJson: must be a string'],
  ],
  [{ Type: 0, ResultJson: {} }, ['$.ResultJson: must be a string']],
  [{ Type: 0, ResultJson: '1', ToolCallId: 5 }, ['$.ToolCallId: must be a string']],
])('%j is invalid: the error has its path', (native, faults) => {
  expect(lmkitDialect.read(native)).toEqual({ ok: false, faults });
});

test('without ids, or with null, the call has no ids', () => {
  expect(readSound(lmkitDialect, { Type: 0, ResultJson: '1' }).answer.call).toEqual({ id: null });
  expect(
    readSound(lmkitDialect, { Type: 0, ResultJson: '1', ToolCallId: null, ToolName: null }).answer.call,
  ).toEqual({
    id: null,
  });
});

test('reports a result that is not JSON, and writes it as null', () => {
  const { body, warnings } = lmkitDialect.write({
    call: { id: null },
    outcome: { type: 'success', basis: 'ours' },
    payload: 1n,
  });
  expect(body).toMatchObject({ ResultJson: 'null' });
  expect(warnings).toMatchObject([{ feature: 'JSON' }]);
});
