import { describe, expect, test } from 'vitest';
import type { DialectName } from '../../../src/dialects/dialect.js';
import { readAs, translate } from '../../../src/dialects/dialects.js';
import { mcpDialect } from '../../../src/dialects/mcp.js';
import type { JudgedOutcome } from '../../../src/protocol/outcome.js';
import { dialectContract, readSound } from '../contract.js';

dialectContract(mcpDialect);

const text = (words: string) => ({ type: 'text', text: words });
const CALL = { id: null };

test('reads structured content alone as the payload, with a note', () => {
  const beside = { 'structured content': [] };
  const answer = { call: { id: null }, outcome: { type: 'success', basis: 'declared' }, beside } as const;
  expect(mcpDialect.write(answer).warnings).toMatchObject([{ feature: 'no payload' }]);
});

describe('a CallToolResult', () => {
  test.each<[string, object, object, string]>([
    [
      'is a success',
      { content: [text('a')], isError: false },
      { outcome: { type: 'success', basis: 'declared' }, payload: 'a' },
      'a',
    ],
    [
      'without isError counts as a success',
      { content: [text('a'), text('b')] },
      { outcome: { type: 'success', basis: 'assumed' }, payload: 'a\nb' },
      'a\nb',
    ],
    [
      'whose text looks like an error is a success',
      { content: [text('Error: x')], isError: false },
      { outcome: { type: 'success', basis: 'declared' }, payload: 'Error: x' },
      'Error: x',
    ],
    [
      'whose text looks like a payload is not a timeout',
      { content: [text('{"timeout":{"durationMs":1}}')], isError: true },
      { outcome: { type: 'error', message: '{"timeout":{"durationMs":1}}', basis: 'declared' } },
      '{"timeout":{"durationMs":1}}',
    ],
    [
      'is an error with a code',
      {
        content: [text('no')],
        structuredContent: { error: { message: 'no', code: 'E', type: 'T' } },
        isError: true,
      },
      { outcome: { type: 'error', message: 'no', code: 'E', errorType: 'T', basis: 'declared' }, beside: {} },
      'no',
    ],
    [
      'is an error with more text',
      {
        content: [text('no way')],
        structuredContent: { error: { message: 'no', code: 'E' } },
        isError: true,
      },
      {
        outcome: { type: 'error', message: 'no way', code: 'E', basis: 'declared' },
        beside: { 'structured content': { error: { message: 'no', code: 'E' } } },
      },
      'no way',
    ],
    [
      'is a cancel with a text of its own',
      { content: [text('stopped')], structuredContent: { canceled: { by: 'user' } }, isError: true },
      {
        outcome: { type: 'canceled', by: 'user', basis: 'convention' },
        beside: { 'other fields': { content: 'stopped' } },
      },
      'stopped',
    ],
    [
      'has only structured content',
      { structuredContent: { a: 1 } },
      { payload: { a: 1 }, beside: { 'structured content': { a: 1 } } },
      '{"a":1}',
    ],
    [
      'has blocks of every kind',
      {
        content: [
          text('a'),
          { type: 'image', data: 'AAAA', mimeType: 'image/png', annotations: { priority: 1 } },
          { type: 'resource_link', uri: 'file:///a', name: 'a' },
          { type: 'hologram' },
        ],
        _meta: { m: 1 },
        later: 2,
      },
      {
        payload: 'a',
        beside: {
          images: [{ data: 'AAAA', mediaType: 'image/png' }],
          'other content': [{ type: 'resource_link', uri: 'file:///a', name: 'a' }, { type: 'hologram' }],
          meta: { m: 1 },
          'other fields': { later: 2, 'content[1]': { annotations: { priority: 1 } } },
        },
      },
      'a\n[image: image/png, 3 bytes]\n[resource_link "file:///a"]\n[hologram]',
    ],
  ])('%s', (_, native, answer, words) => {
    const reading = readSound(mcpDialect, native);
    expect(reading.answer).toMatchObject(answer);
    expect(reading.text).toBe(words);
  });

  test('has notes about its format', () => {
    expect(readSound(mcpDialect, { structuredContent: 1 }).notes).toEqual([
      'isError is left out; success is assumed',
      'content is left out',
      'there is structured content and no content block, which older clients need',
    ]);
  });
});

describe('writing an outcome', () => {
  test.each<[JudgedOutcome, unknown, object]>([
    [{ type: 'success', basis: 'ours' }, 'a', { content: [text('a')], isError: false }],
    [{ type: 'success', basis: 'ours' }, undefined, { content: [], isError: false }],
    [{ type: 'success', basis: 'ours' }, { a: [1] }, { content: [text('{"a":[1]}')], isError: false }],
    [{ type: 'error', message: 'no', basis: 'ours' }, undefined, { content: [text('no')], isError: true }],
    [
      { type: 'error', message: 'no', code: 'E', basis: 'ours' },
      undefined,
      { content: [text('no')], structuredContent: { error: { message: 'no', code: 'E' } }, isError: true },
    ],
    [
      { type: 'timeout', durationMs: 5, basis: 'ours' },
      undefined,
      {
        content: [text('{"timeout":{"durationMs":5}}')],
        structuredContent: { timeout: { durationMs: 5 } },
        isError: true,
      },
    ],
    [
      { type: 'unknown', raw: 'Deferred', basis: 'ours' },
      'later',
      { content: [text('The call ended with the unknown outcome "Deferred": later')], isError: true },
    ],
  ])('%j', (outcome, payload, body) => {
    const writing = mcpDialect.write({ call: CALL, outcome, payload });
    expect(JSON.stringify(writing.body)).toBe(JSON.stringify(body));
  });

  test('replaces structured content if the outcome needs it', () => {
    const outcome = { type: 'timeout', durationMs: 5, basis: 'ours' } as const;
    const { body, warnings } = mcpDialect.write({
      call: CALL,
      outcome,
      beside: { 'structured content': { a: 1 } },
    });
    expect(body).toMatchObject({ structuredContent: { timeout: { durationMs: 5 } } });
    expect(warnings).toMatchObject([{ feature: 'structured content' }]);
  });

  test('writes structured content and _meta only if they are set', () => {
    const success = { type: 'success', basis: 'ours' } as const;
    const beside = { 'structured content': null, meta: {} };
    expect(mcpDialect.write({ call: CALL, outcome: success, payload: 'a', beside }).body).toEqual({
      content: [text('a')],
      structuredContent: null,
      isError: false,
      _meta: {},
    });
  });
});

test.each<[unknown, string[]]>([
  ['x', ['$: must be an object']],
  [{}, ['$.content: is required']],
  [{ content: {} }, ['$.content: must be an array']],
  [
    { content: [1, {}, { type: 'text' }, { type: 'image', data: 1 }] },
    [
      '$.content[0]: must be an object',
      '$.content[1].type: is required',
      '$.content[2].text: must be a string',
      '$.content[3].data: must be a string',
      '$.content[3].mimeType: must be a string',
    ],
  ],
  [
    { content: [], isError: 'yes', _meta: [] },
    ['$.isError: must be a boolean', '$._meta: must be an object'],
  ],
])('%j is invalid: the error has its path', (native, faults) => {
  expect(mcpDialect.read(native)).toEqual({ ok: false, faults });
});

describe('the text of an embedded resource survives in formats without resources', () => {
  const embedded = { type: 'resource', resource: { uri: 'a://b', text: 'its text' } };
  const flat = { type: 'resource', uri: 'a://b', mimeType: 'text/plain', text: 'its text' }; // pmcp before 2.19
  const written = (content: readonly object[], to: DialectName, isError = false) => {
    const reading = readAs('mcp', { content, isError });
    return reading.ok ? translate(reading, to) : expect.fail('it can be read');
  };

  test.each([
    ['embedded', embedded],
    ['flat', flat],
  ])('%s', (_, block) => {
    const content = [{ type: 'text', text: 'hi' }, block];
    const { body, warnings } = written(content, 'rap');
    expect(body).toMatchObject({ text: 'hi\nits text' });
    expect(warnings.map(({ message }) => message)).toContain(
      'a tool_result of RAP cannot carry the URI of 1 embedded resource, only the text',
    );
    expect(written(content, 'session').body).toMatchObject({ result: 'hi\nits text' });
    expect(written(content, 'lmkit').body).toMatchObject({ ResultJson: '"hi\\nits text"' });
    expect(written(content, 'mcp').body).toEqual({ content, isError: false });
    expect(written([block], 'rap', true).body).toMatchObject({ text: 'Error: its text' });
  });
});
