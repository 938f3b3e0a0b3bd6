import { describe, expect, test } from 'vitest';
import { recognise } from '../../../src/commands/render/recognise.js';
import type { DialectName } from '../../../src/dialects/dialect.js';
import { CHOICE, EVENT, INVOCATION, OAUTH, RESULT, VIEW } from '../../events/build.js';
import { SEED_INVOCATION, SEED_RESULTS } from '../../protocol/seed-messages.js';
import { errorOf } from '../../support/failing.js';

const VIEWED = { supports: new Set(['diff', 'text']), isPrivate: false };
const REPORT = { warnings: [], error: { code: 'unreachable', message: 'no' } };
const TOOLSET = {
  name: 'demo',
  endpoint: 'http://127.0.0.1:3001/invoke',
  tools: [{ name: 'a', description: 'b', inputSchema: { type: 'object' } }],
};
const DIFF = '--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n';

function source(text: string | Uint8Array | object, dialect: DialectName | null = null) {
  const isBytes = typeof text === 'string' || text instanceof Uint8Array;
  return { name: 'x', bytes: Buffer.from(isBytes ? text : JSON.stringify(text)), dialect };
}

const shown = (what: string | object) => recognise(source(what));
const kindOf = async (what: string | object) => (await shown(what)).report(VIEWED);
const errorFor = (what: string | Uint8Array | object, dialect: DialectName | null = null) =>
  errorOf(() => recognise(source(what, dialect)));

describe('what it is, it sees on its own', () => {
  test.each([
    ['tool_result', RESULT],
    ['oauth', OAUTH],
    ['user_choice', CHOICE],
    ['subscription_event', EVENT],
    ['view_update', VIEW],
    ['invocation', INVOCATION],
    ['toolset', TOOLSET],
    ['diff', DIFF],
  ])('%s', async (kind, what) => {
    expect(await kindOf(what)).toMatchObject({ kind });
  });

  test.each([...Object.entries(SEED_RESULTS)])('the seed: %s', async (_, text) => {
    expect(await kindOf(text)).toMatchObject({ kind: 'tool_result' });
  });

  test('the invocation of the seed', async () => {
    expect(await kindOf(SEED_INVOCATION)).toMatchObject({ kind: 'invocation' });
  });

  test.each([
    ['a report', REPORT],
    ['a report of many calls', { calls: [REPORT], summary: {}, warnings: [] }],
  ])('%s comes out as it went in', async (_, report) => {
    expect(await kindOf(report)).toEqual(report);
  });

  test.each([
    ['blanks before it', `\n  ${JSON.stringify(RESULT)}`],
    ['a byte-order mark', `\uFEFF${JSON.stringify(RESULT)}`],
    ['pretty JSON', JSON.stringify(RESULT, null, 2)],
    ['Windows line ends', JSON.stringify(RESULT, null, 2).replaceAll('\n', '\r\n')],
    ['keys that no one knows', JSON.stringify({ ...RESULT, extra: 1, __proto__: null })],
  ])('in spite of %s', async (_, text) => {
    expect(await kindOf(text)).toMatchObject({ kind: 'tool_result' });
  });

  test('a tool_result that has an operation is still one', async () => {
    expect(await kindOf({ ...RESULT, operation: 'a', tools: [], kind: 'header' })).toMatchObject({
      kind: 'tool_result',
    });
  });
});

describe('a diff', () => {
  test.each([
    ['of git', `diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n`],
    [
      'in colours',
      '\u001b[1mdiff --git a/x b/x\u001b[m\n\u001b[1m--- a/x\u001b[m\n\u001b[1m+++ b/x\u001b[m\n\u001b[36m@@ -1 +1 @@\u001b[m\n\u001b[31m-a\u001b[m\n\u001b[32m+b\u001b[m\n',
    ],
    ['of a mode alone', 'diff --git a/x b/x\nold mode 100644\nnew mode 100755\n'],
    ['below the message of a commit', `commit 1\nAuthor: a\n\n    why\n\ndiff --git a/x b/x\n${DIFF}`],
    ['without names', '@@ -1 +1 @@\n-a\n+b\n'],
  ])('%s', async (_, text) => {
    expect(await kindOf(text)).toMatchObject({ kind: 'diff', files: [expect.anything()] });
  });

  test('that is broken names the line of the file', async () => {
    const { faults } = await errorFor(`a message\n\n${DIFF}stray\n`);
    expect(faults).toEqual([expect.stringMatching(/^line 8: "stray"/)]);
  });

  test('with wrong counts is shown with a warning', async () => {
    expect(await kindOf(DIFF.replace('+1 @@', '+1,9 @@'))).toMatchObject({ warnings: [{ id: 'TOOL-DIFF' }] });
  });
});

describe('what is not one of it is refused, with its place', () => {
  test.each<[string, string | Uint8Array | object, string, string[]]>([
    ['nothing', '', 'cannot show x: it is empty', []],
    ['blanks', ' \n\n', 'cannot show x: it is empty', []],
    ['prose', 'hello', 'cannot show x: unrecognized format', []],
    ['a number', '42', 'cannot show x: unrecognized format', []],
    [
      'broken JSON',
      '{"a":1,\n  "b":}',
      'cannot show x: invalid JSON',
      ['line 2, column 7: "}" stands where a value is expected'],
    ],
    [
      'JSON that is too deep',
      '['.repeat(200) + ']'.repeat(200),
      'cannot show x: invalid JSON',
      ['the JSON is nested deeper than 128 levels'],
    ],
    ['a list', '[1]', 'cannot show x: unrecognized format', ['$: must be an object, not a list']],
    [
      'a list of which one is a stranger',
      [RESULT, { foo: 1 }],
      'cannot show x: it looks like several of these but is not valid',
      ['$[1]: unrecognized format'],
    ],
    [
      'lines of which one is torn',
      `${JSON.stringify(RESULT)}\n\n{"type":`,
      'cannot show x: it looks like several of these but is not valid',
      [expect.stringMatching(/^line 3: not valid JSON/)],
    ],
    ['a stranger', { foo: 1 }, 'cannot show x: unrecognized format', []],
    [
      'a result that does not say so',
      { id: 'a', group_id: 'b', text: 'c' },
      'cannot show x: unrecognized format',
      [
        'closest match: a callback, but:',
        expect.stringMatching(/^\$\.type: is absent; a callback is one of/),
      ],
    ],
    [
      'a misspelt type',
      { ...RESULT, type: 'tool_resul' },
      'cannot show x: unrecognized format',
      ['closest match: a callback, but:', expect.stringMatching(/^\$\.type: is "tool_resul"/)],
    ],
    [
      'a broken invocation',
      { ...INVOCATION, id: 3, arguments: [] },
      'cannot show x: it looks like an invocation but is not valid',
      ['$.arguments: must be an object', '$.id: must be a string'],
    ],
    [
      'a broken toolset',
      { ...TOOLSET, tools: [{ name: 'a b' }] },
      'cannot show x: it looks like a toolset but is not valid',
      expect.arrayContaining(['$.tools[0].description: is required']),
    ],
    [
      'a broken report',
      { ...REPORT, callbacks: 3 },
      'cannot show x: it looks like a report but is not valid',
      ['$.callbacks: must be an array'],
    ],
    [
      'a torn transcript',
      '{"kind":"header","format":"protocol-cli-tr',
      'cannot show x: it looks like a transcript but is not valid',
      [expect.stringMatching(/^line 1: not valid JSON/)],
    ],
    ['something compressed', Buffer.from([0x1f, 0x8b, 8]), 'cannot show x: it is not valid UTF-8', []],
  ])('%s', async (_, what, message, faults) => {
    const error = await errorFor(what);
    expect(error.code).toBe('unreadable-file');
    expect(error.message).toBe(message);
    expect(error.faults).toEqual(faults);
  });

  test('what was looked for is named', async () => {
    const { hint } = await errorFor('hello');
    expect(hint).toBe(
      'Looked for: a callback (tool_result, oauth, user_choice, subscription_event, view_update); a report (invoke -o json); a report of an agent session (session answer -o json); a report of many calls (invoke --repeat -o json); an invocation; a toolset; a settled call of an agent session (tool_result, error_event); a batch of settled calls of an agent session; changes of an agent session; a ToolCallResult of LM-Kit; a CallToolResult of MCP; a response of JSON-RPC to tools/call; several of these: a list, or a line for each; a transcript (--save, -o ndjson); a unified diff.',
    );
  });

  test('what PowerShell writes is reported', async () => {
    const { hint } = await errorFor(Buffer.from('\uFEFF{}', 'utf16le'));
    expect(hint).toContain('UTF-16');
  });

  test('of many faults only some are reported', async () => {
    const { faults } = await errorFor({ ...TOOLSET, tools: Array.from({ length: 20 }, () => ({})) });
    expect(faults).toHaveLength(9);
    expect(faults.at(-1)).toMatch(/^and \d+ more$/);
  });
});

describe('--dialect insists', () => {
  test('on what is of it', async () => {
    expect((await recognise(source(RESULT, 'rap'))).report(VIEWED)).toMatchObject({ kind: 'tool_result' });
  });

  test('and a bare diff is of none', async () => {
    const { message, hint } = await errorFor(DIFF, 'rap');
    expect(message).toBe('cannot show x: unrecognized format');
    expect(hint).not.toContain('diff');
  });
});
