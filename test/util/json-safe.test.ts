import fc from 'fast-check';
import { expect, test } from 'vitest';
import { safeJson, safeSource } from '../../src/util/redact-json.js';
import { anyCodePoint } from '../support/characters.js';

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const foreign = fc.oneof(
  fc.string({ unit: anyCodePoint }),
  fc.constantFrom(
    '\u001b]0;x\u0007',
    '\u009b',
    '\u007f',
    '\u202e',
    '\u200b',
    '\ud800',
    '\u{e0041}',
    '\u2028',
  ),
);
const value = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    foreign,
    fc.jsonValue(),
    fc.array(tie('value')),
    fc.dictionary(foreign, tie('value')),
  ),
})).value;

test('row 20: reads back as the same value', () => {
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 2), (given, indent) => {
      expect(JSON.parse(safeJson(given, indent))).toEqual(JSON.parse(JSON.stringify(given)));
    }),
  );
});

test('row 24: nothing unseen is raw; line feeds are those of the indent', () => {
  fc.assert(
    fc.property(value, given => {
      expect(safeJson(given)).not.toMatch(UNSEEN);
      expect(safeJson(given, 2).replaceAll('\n', '')).not.toMatch(UNSEEN);
    }),
  );
});

test.each([
  ['\u009b2J', '"\\u009b2J"'],
  ['\u202e', '"\\u202e"'],
  ['\u{e0041}', '"\\udb40\\udc41"'],
  ['ä 日本 😀', '"ä 日本 😀"'],
])('%j', (text, json) => {
  expect(safeJson(text)).toBe(json);
});

test('breaks the workflow commands of CI systems with an escape', () => {
  for (const text of ['##[error]x', '##vso[x]', '##teamcity[x]']) {
    const json = safeJson({ [text]: text });
    expect(json).not.toContain(text);
    expect(JSON.parse(json)).toEqual({ [text]: text });
    expect(safeSource(`["${text}"]`)).not.toContain(text);
  }
});
