import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type JsonTokenKind, scanJson } from '../../src/util/json.js';

function tokensOf(text: string): [JsonTokenKind, string][] {
  const tokens: [JsonTokenKind, string][] = [];
  scanJson(text, (kind, from, to) => tokens.push([kind, text.slice(from, to)]));
  return tokens;
}

test('every kind of token, with its range', () => {
  expect(tokensOf(' {"a" : [1.5e3,\ttrue]}\r\n')).toEqual([
    ['open', '{'],
    ['string', '"a"'],
    ['colon', ':'],
    ['open', '['],
    ['scalar', '1.5e3'],
    ['comma', ','],
    ['scalar', 'true'],
    ['close', ']'],
    ['close', '}'],
  ]);
});

describe('strings end where they end', () => {
  test.each([
    ['"a\\"b"', '"a\\"b"'],
    ['"a\\\\"', '"a\\\\"'],
    ['"\\\\\\""', '"\\\\\\""'],
    ['"{[,:]}"', '"{[,:]}"'],
    ['"no end', '"no end'],
    ['"no end\\"', '"no end\\"'],
  ])('%s', (text, token) => {
    expect(tokensOf(text)).toEqual([['string', token]]);
  });
});

test('the tokens, joined, are the JSON without its blanks', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(undefined, 1, '\t'), (source, indent) => {
      const value: unknown = JSON.parse(source);
      const joined = tokensOf(JSON.stringify(value, null, indent)).map(([, token]) => token);
      expect(joined.join('')).toBe(JSON.stringify(value));
    }),
  );
});

test('any text is walked to its end, and its tokens do not overlap', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'"\\[]{},: 1a\n') }), text => {
      let end = 0;
      scanJson(text, (_, from, to) => {
        expect(from).toBeGreaterThanOrEqual(end);
        expect(to).toBeGreaterThan(from);
        end = to;
      });
      expect(end).toBeLessThanOrEqual(text.length);
    }),
  );
});

test('false stops the scan', () => {
  const seen: JsonTokenKind[] = [];
  scanJson('[1,2]', kind => seen.push(kind) < 2);
  expect(seen).toEqual(['open', 'scalar']);
});
