import { describe, expect, test } from 'vitest';
import { rapDialect } from '../../src/dialects/rap.js';
import type { JudgedOutcome } from '../../src/protocol/outcome.js';
import { dialectContract, readSound } from './contract.js';

dialectContract(rapDialect);

const CALL = { id: 'call_1', thread: 'thread_1' };
const HEAD = { type: 'tool_result', group_id: 'thread_1', id: 'call_1' };
const IMAGE = { type: 'image', data: 'AAAA', mediaType: 'image/png' };

describe('a tool_result', () => {
  test('has an outcome by convention, with its display and subscription beside it', () => {
    const display_as = [{ type: 'text', content: 'x', later: 1 }];
    const native = { ...HEAD, call_id: 'c', text: 'Error: no', display_as, subscription: true };
    const { answer, text } = readSound(rapDialect, native);
    expect(answer).toEqual({
      call: { ...CALL, secondaryId: 'c' },
      outcome: { type: 'error', message: 'no', basis: 'convention' },
      payload: 'Error: no',
      beside: { display: display_as, subscription: true },
    });
    expect(text).toBe('Error: no');
    expect(rapDialect.write(answer)).toEqual({ body: native, warnings: [] });
  });

  test('has images beside its text, and is written with both', () => {
    const native = { ...HEAD, content: [{ type: 'text', text: 'a' }, IMAGE] };
    const { answer, text } = readSound(rapDialect, native);
    expect(answer).toMatchObject({
      payload: 'a',
      outcome: { type: 'success', basis: 'assumed' },
      beside: { images: [{ data: 'AAAA', mediaType: 'image/png' }] },
    });
    expect(text).toBe('a\n[image: image/png, 3 bytes]');
    expect(rapDialect.write(answer).body).toEqual({ ...native, text: 'a' });
  });

  test('loses the order of its content in other formats', () => {
    const content = [{ type: 'text', text: 'a' }, IMAGE, { type: 'text', text: 'b' }];
    const { answer } = readSound(rapDialect, { ...HEAD, content });
    expect(answer.payload).toBe('a\nb');
    expect(rapDialect.write(answer).warnings).toMatchObject([{ feature: 'order of content' }]);
  });

  test('is read by its content if the text differs', () => {
    const { answer, notes } = readSound(rapDialect, {
      ...HEAD,
      text: 'old',
      content: [{ type: 'text', text: 'new' }],
    });
    expect(answer).toMatchObject({ payload: 'new', beside: { 'other fields': { text: 'old' } } });
    expect(notes).toEqual(['text is not what content says; content counts']);
  });

  test('that violates the schema has errors with paths', () => {
    expect(rapDialect.read({ type: 'tool_result', id: 1 })).toEqual({
      ok: false,
      faults: ['$.group_id: is required', '$.id: must be a string'],
    });
  });
});

describe('writes an outcome as text', () => {
  test.each<[JudgedOutcome, string, string[]]>([
    [{ type: 'error', message: 'the disk is full', basis: 'declared' }, 'Error: the disk is full', []],
    [
      { type: 'error', message: 'no', code: 'E', errorType: 'T', origin: 'o', basis: 'declared' },
      'Error: no',
      ['error code', 'error type', 'error origin'],
    ],
    [{ type: 'timeout', durationMs: 30_000, basis: 'ours' }, '{"timeout":{"durationMs":30000}}', []],
    [
      { type: 'canceled', reason: 'no', by: 'user', basis: 'ours' },
      '{"canceled":{"reason":"no","by":"user"}}',
      [],
    ],
    [
      { type: 'denied', tool: 'rm', reason: 'policy', basis: 'ours' },
      '{"denied":{"tool":"rm","reason":"policy"}}',
      [],
    ],
    [
      { type: 'unknown', raw: 'Deferred', basis: 'declared' },
      'Error: The call ended with the unknown outcome "Deferred": {"a":1}',
      ['unknown', 'JSON'],
    ],
  ])('%j: %s', (outcome, text, lost) => {
    const { body, warnings } = rapDialect.write({ call: CALL, outcome, payload: { a: 1 } });
    expect(body).toEqual({ ...HEAD, text });
    expect(warnings.map(({ feature }) => feature)).toEqual(lost);
  });

  test('a JSON payload becomes compact text', () => {
    const success = { type: 'success', basis: 'declared' } as const;
    expect(rapDialect.write({ call: CALL, outcome: success, payload: { a: [1, 'x'] } })).toEqual({
      body: { ...HEAD, text: '{"a":[1,"x"]}' },
      warnings: [
        {
          feature: 'JSON',
          message: 'a tool_result of RAP cannot carry a payload that is JSON: it is written as a text',
        },
      ],
    });
  });
});

describe('warns about a convention that is met by chance, or not met', () => {
  const long = 'x'.repeat(70_000);
  test.each<[JudgedOutcome, string | undefined, string]>([
    [
      { type: 'success', basis: 'declared' },
      'Error: is the title',
      'this success: its text is read as error',
    ],
    [{ type: 'success', basis: 'declared' }, '{"timeout":{}}', 'this success: its text is read as timeout'],
    [
      { type: 'canceled', reason: long, basis: 'ours' },
      undefined,
      'this canceled: its text is read as success',
    ],
  ])('%#', (outcome, payload, words) => {
    const { warnings } = rapDialect.write({ call: CALL, outcome, payload });
    expect(warnings).toEqual([
      { feature: outcome.type, message: `a tool_result of RAP cannot carry ${words}` },
    ]);
  });
});
