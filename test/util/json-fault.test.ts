import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonFault } from '../../src/util/json.js';

test.each([
  ['{"a":1,\n  "b":}', 2, 7, '"}" stands where a value is expected'],
  ['{"a":1,}', 1, 8, '"}" stands where a key is expected'],
  ['{"a":1', 1, 7, 'the text ends where , or } is expected'],
  ['[1 2]', 1, 4, '"2" stands where , or ] is expected'],
  ['[1}', 1, 3, '"}" stands where , or ] is expected'],
  ['{a:1}', 1, 2, '"a" stands where a key or } is expected'],
  ['{"a" 1}', 1, 6, '"1" stands where : is expected'],
  ['[01]', 1, 2, '"01" stands where a value or ] is expected'],
  ['["a\nb"]', 1, 2, '"\\"" stands where a value or ] is expected'],
  ['{} {}', 1, 4, '"{" stands where the end is expected'],
  ['', 1, 1, 'the text ends where a value is expected'],
])('%j: line %i, column %i', (text, line, column, message) => {
  expect(jsonFault(text)).toEqual({ line, column, message });
});

test('whatever JSON.parse takes has none, and whatever it refuses has one', () => {
  const mutated = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '}', '"', ':', '[', '1', '\\', ' ', '\n', 'e'))
    .map(([json, at, piece]) => json.slice(0, at % json.length) + piece + json.slice((at % json.length) + 1));
  fc.assert(
    fc.property(fc.oneof(fc.json(), mutated), text => {
      expect(jsonFault(text) === null).toBe(isJson(text));
    }),
    { numRuns: 500 },
  );
});

test('depth costs no stack', () => {
  expect(jsonFault('['.repeat(1_000_000))).toMatchObject({ column: 1_000_001 });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
