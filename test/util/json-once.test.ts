import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readJson } from '../../src/util/json.js';
import { readJsonOnce } from '../../src/util/json-once.js';
import { anyCodePoint } from '../support/characters.js';
import { expectCpuBelow } from '../support/cpu-ms.js';

const SHORT = 6;
const MiB = 1024 * 1024;

/** Strings that count as long here, some of them not well formed. */
const text = fc.oneof(
  fc.string({ unit: anyCodePoint, minLength: SHORT }),
  fc.string({ unit: fc.constantFrom(...'"\\/\b\f\n\r\t\0 aé日😀', '\ud83d', '\ude00'), minLength: SHORT }),
  fc.string({ unit: anyCodePoint }),
);
const value = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.jsonValue(),
    fc.array(tie('value')),
    fc.dictionary(fc.oneof(text, fc.constant('__proto__')), tie('value')),
  ),
})).value;
const indent = fc.constantFrom(undefined, 1, '\t', '\r\n');

/** As Python writes it: every character beyond ASCII is an escape. */
const asciiOnly = (source: string) =>
  source.replaceAll(/[^\0-\x7f]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
/** Bytes within a larger buffer, as a socket hands them out. */
const inside = (bytes: Uint8Array) => {
  const room = new Uint8Array(bytes.length + 7).fill(0x22);
  room.set(bytes, 3);
  return room.subarray(3, 3 + bytes.length);
};
const once = (source: string | Uint8Array, long = SHORT) =>
  readJsonOnce(inside(typeof source === 'string' ? Buffer.from(source) : source), long);
const ordinarily = (source: string | Uint8Array) =>
  readJson(typeof source === 'string' ? Buffer.from(source) : source);

describe('returns the same values, notes and reasons as readJson', () => {
  test('for JSON in any format', () => {
    fc.assert(
      fc.property(value, indent, fc.boolean(), (given, space, isAscii) => {
        const written = JSON.stringify(given, null, space);
        const source = isAscii ? asciiOnly(written) : written;
        expect(once(source)).toEqual({ ok: true, value: JSON.parse(source), notes: expect.anything() });
        expect(once(source)).toEqual(ordinarily(source));
      }),
    );
  });

  test('for JSON that is cut off anywhere', () => {
    fc.assert(
      fc.property(value, fc.nat(), (given, at) => {
        const whole = Buffer.from(JSON.stringify(given));
        const source = whole.subarray(0, at % (whole.length + 1));
        expect(once(source)).toEqual(ordinarily(source));
      }),
    );
  });

  test('for JSON with any byte replaced', () => {
    fc.assert(
      fc.property(value, fc.nat(), fc.nat({ max: 255 }), (given, at, byte) => {
        const source = Buffer.from(JSON.stringify(given));
        source[at % source.length] = byte;
        expect(once(source)).toEqual(ordinarily(source));
      }),
    );
  });

  test('for texts that look like JSON', () => {
    const unit = fc.constantFrom(...'"\\[]{},: 1anu\n', '\\u00e9', '\\ud83d', '\\ude00', '"abcdefg"');
    fc.assert(
      fc.property(fc.string({ unit }), source => {
        expect(once(source)).toEqual(ordinarily(source));
      }),
    );
  });
});

describe('returns the same for', () => {
  const LONG = 'x'.repeat(SHORT);
  test.each([
    ['a byte-order mark', `\uFEFF["${LONG}"]`],
    ['a byte-order mark inside a string', `["\uFEFF${LONG}"]`],
    ['129 levels', `${'['.repeat(129)}"${LONG}"${']'.repeat(129)}`],
    ['__proto__', `{"__proto__":"${LONG}","a":{"__proto__":{"polluted":"${LONG}"}}}`],
    ['a long key', `{"${LONG}" \r\n\t:"${LONG}"}`],
    ['a lone surrogate beside a string without one', `["${LONG}","${LONG}\\ud83d"]`],
    ['two surrogates in the wrong order', `["${LONG}\\ude00\\ud83d"]`],
    ['an unterminated string after a backslash', `["${LONG}\\`],
    ['an error after a long string', `{"a":"${LONG}\\n\\n\\n","b":}`],
    ['a quote outside a string', `[1"${LONG}",2]`],
  ])('%s', (_, source) => {
    expect(once(source)).toEqual(ordinarily(source));
  });

  test('invalid UTF-8, inside or outside a long string', () => {
    for (const place of [3, SHORT + 5]) {
      const source = Buffer.from(`["${LONG}",1]`);
      source[place] = 0xff;
      expect(once(source)).toEqual({ ok: false, reason: 'the body is not valid UTF-8' });
    }
  });
});

describe('by default, decodes texts of at least a mebibyte in place', () => {
  const unit = 'é😀"\n';
  const bodyOf = (bytes: number) => Buffer.from(JSON.stringify({ text: unit.repeat(bytes / 8) }));

  test('destroys the bytes of long texts', () => {
    const body = bodyOf(MiB);
    const before = Buffer.from(body);
    expect(readJsonOnce(body)).toEqual(readJson(before));
    expect(body.equals(before)).toBe(false);
  });

  test('does not change the bytes of others', () => {
    const body = bodyOf(MiB / 2);
    const before = Buffer.from(body);
    expect(readJsonOnce(body)).toEqual(readJson(before));
    expect(body.equals(before)).toBe(true);
  });
});

describe('2 MB take linear time, with any structure', () => {
  const SIZE = 2_000_000;
  test.each([
    ['one string', () => `"${'a'.repeat(SIZE)}"`],
    ['backslashes', () => `"${'\\\\'.repeat(SIZE / 2)}"`],
    ['unterminated backslashes', () => `"${'\\'.repeat(SIZE)}`],
    ['escaped quotes', () => `"${'\\"'.repeat(SIZE / 2)}"`],
    ['surrogate escapes', () => `"${'\\ud83d\\ude00'.repeat(SIZE / 12)}"`],
    ['quotes', () => '"'.repeat(SIZE)],
    ['long strings', () => `["${`${'a'.repeat(MiB / 16)}","`.repeat((SIZE * 16) / MiB)}"]`],
    ['whitespace after strings', () => `["",${`""${' '.repeat(100)},`.repeat(SIZE / 100)}1]`],
  ])('%s', async (_, source) => {
    const bytes = Buffer.from(source());
    await expectCpuBelow(4_000, () => readJsonOnce(bytes, MiB / 16));
  });
});
