import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  judgedOutcomeSchema,
  type Outcome,
  outcomeOfPayload,
  outcomeOfText,
  payloadOfOutcome,
  textOfOutcome,
} from '../../src/protocol/outcome.js';
import { anyCodePoint } from '../support/characters.js';

/** The documented payloads of seed 002, and their outcomes. */
const SEED: [string, Outcome][] = [
  [
    '{"error": {"message": "...", "code": "OPTIONAL_CODE", "type": "OptionalType"}}',
    { type: 'error', message: '...', code: 'OPTIONAL_CODE', errorType: 'OptionalType' },
  ],
  ['{"canceled": {"reason": "...", "by": "user"}}', { type: 'canceled', reason: '...', by: 'user' }],
  ['{"timeout": {"durationMs": 30000}}', { type: 'timeout', durationMs: 30_000 }],
  ['{"denied": {"tool": "...", "reason": "..."}}', { type: 'denied', tool: '...', reason: '...' }],
];

describe('seed 002: a text that is exactly a payload is that outcome, by convention', () => {
  test.each(SEED)('%s', (text, outcome) => {
    expect(outcomeOfText(text)).toEqual({ ...outcome, basis: 'convention' });
    expect(outcomeOfText(` \n${text}\n`)).toEqual({ ...outcome, basis: 'convention' });
  });
});

describe('the guides print forms that are read as outcomes, with every member', () => {
  test.each(['protocol', 'systems', 'fixtures'])('%s', async guide => {
    const source = await readFile(`src/guides/${guide}.md`, 'utf8');
    const forms = [...source.matchAll(/`(\{"(error|canceled|timeout|denied)":[^`]*…[^`]*)`/g)].map(
      ([, form = '', type]) => ({
        type,
        outcome: outcomeOfText(form.replaceAll('"durationMs":…', '"durationMs":1').replaceAll('…', '"x"')),
      }),
    );
    for (const { type, outcome } of forms) expect(outcome).toMatchObject({ type, basis: 'convention' });
    const members = forms.flatMap(({ outcome }) => Object.keys(outcome));
    expect(members).toEqual(
      expect.arrayContaining([
        'reason',
        'by',
        'tool',
        'durationMs',
        ...(guide === 'fixtures' ? [] : ['message', 'code', 'errorType']),
      ]),
    );
  });

  test.each(['{"canceled":{"tool":"x"}}', '{"canceled":true}', '{"error":"disk full"}'])(
    '%s is none of them',
    text => {
      expect(outcomeOfText(text)).toEqual({ type: 'success', basis: 'assumed' });
    },
  );
});

describe('seed 002: every payload converts to its outcome and back', () => {
  test.each(SEED)('%s', (text, outcome) => {
    expect(outcomeOfPayload(JSON.parse(text))).toEqual(outcome);
    expect(payloadOfOutcome(outcome)).toEqual(JSON.parse(text));
  });

  test.each<[Outcome, object | null]>([
    [{ type: 'error', message: 'x' }, { error: { message: 'x' } }],
    [{ type: 'error', message: 'x', origin: 'here' }, { error: { message: 'x' } }],
    [{ type: 'canceled' }, { canceled: {} }],
    [{ type: 'success' }, null],
    [{ type: 'unknown', raw: 5 }, null],
  ])('%j: %j', (outcome, payload) => {
    const written = payloadOfOutcome(outcome);
    expect(JSON.stringify(written)).toBe(JSON.stringify(payload));
    expect(written && Object.keys(written)).toEqual(payload && Object.keys(payload));
  });

  test.each([
    null,
    1,
    'a',
    [],
    {},
    { timeout: 1 },
    { error: { message: 1 } },
    JSON.parse('{"canceled":{},"__proto__":{}}'),
  ])('%j is not a payload', value => {
    expect(outcomeOfPayload(value)).toBeNull();
  });
});

describe('TOOL-ERRPREFIX: a text that starts with "Error: " is an error', () => {
  test.each([
    [
      'Error: API rate limit exceeded. Retry after 60 seconds.',
      'API rate limit exceeded. Retry after 60 seconds.',
    ],
    ['Error: ', ''],
    ['Error: a\nb', 'a\nb'],
  ])('%j', (text, message) => {
    expect(outcomeOfText(text)).toEqual({ type: 'error', message, basis: 'convention' });
  });
});

describe('a text that only contains such words is a success', () => {
  test.each([
    '',
    'Deployment completed successfully.',
    'error: lower case',
    'Error without a colon',
    ' Error: not at the start',
    'The answer was {"timeout": {"durationMs": 1}}',
    '{"timeout": {"durationMs": 1}} was the answer',
    '[{"timeout": {"durationMs": 1}}]',
    '{"timeout": {"durationMs": 1}, "count": 1}',
    '{"timeout": {"durationMs": 1}, "denied": {"tool": "x"}}',
    '{"timeout": {"durationMs": "1"}}',
    '{"timeout": 30}',
    '{"canceled": {"orders": 3}}',
    '{"error": {}}',
    '{"Timeout": {"durationMs": 1}}',
    '{"instances": [{"id": "i-0abc123", "state": "running"}], "count": 1}',
    '{"error": {"message": "cut off',
    `{"error": {"message": "${'x'.repeat(70_000)}"}}`,
  ])('%j', text => {
    expect(outcomeOfText(text)).toEqual({ type: 'success', basis: 'assumed' });
  });
});

test('canceled, timeout and denied are read back as written', () => {
  const word = fc.string({ unit: anyCodePoint, maxLength: 20 });
  const outcome = fc.oneof(
    fc.record({ type: fc.constant('canceled' as const), reason: word, by: word }),
    fc.record({ type: fc.constant('timeout' as const), durationMs: fc.nat() }),
    fc.record({ type: fc.constant('denied' as const), tool: word, reason: word }),
  );
  fc.assert(
    fc.property(outcome, given => {
      expect(outcomeOfText(textOfOutcome(given) ?? '')).toEqual({ ...given, basis: 'convention' });
    }),
  );
});

test('any text of a tool is an outcome; reading never throws', () => {
  const said = fc.oneof(
    fc.string({ unit: anyCodePoint }),
    fc.json(),
    fc.constantFrom(...SEED.map(([text]) => text)),
  );
  fc.assert(
    fc.property(said, text => {
      const outcome = outcomeOfText(text);
      expect(judgedOutcomeSchema.safeParse(outcome).success).toBe(true);
      expect(outcome.basis).toBe(outcome.type === 'success' ? 'assumed' : 'convention');
    }),
  );
});
