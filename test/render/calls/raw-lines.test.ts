import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Content } from '../../../src/events/content.js';
import { toldEventLines } from '../../../src/render/wire.js';
import { createRedactor } from '../../../src/util/redact.js';
import { countUnseen } from '../../../src/util/visible.js';
import { words } from '../../support/words.js';

const linesOf = (bytes: Uint8Array | string, secrets: string[] = []) =>
  toldEventLines(
    {
      event: {
        kind: 'response',
        leg: 'x',
        status: 200,
        headers: {},
        seq: 0,
        at: 0,
        body: new Content(Buffer.from(bytes)),
      },
      steps: [],
    },
    0,
    createRedactor(secrets),
    true,
  )
    .slice(1)
    .map(line => words(line).slice(' '.repeat(11).length + 2));

test('a text is shown as it was written', () => {
  expect(linesOf('{"b":1,\r\n "b" : 1.0}')).toEqual(['{"b":1,␍', ' "b" : 1.0}']);
  expect(linesOf('')).toEqual([]);
});

test('what is not UTF-8 is shown in hex', () => {
  expect(linesOf(new Uint8Array([0x66, 0x6f, 0x1b, 0xff]))).toEqual([
    `0000  66 6f 1b ff${' '.repeat(37)} fo..`,
  ]);
  expect(linesOf(new Uint8Array(40).fill(0xfe)).map(line => line.slice(0, 4))).toEqual([
    '0000',
    '0010',
    '0020',
  ]);
});

describe('of a large one, only the beginning', () => {
  test.each([
    ['many lines', 'x\n'.repeat(100), 41, '… of 200 bytes in all'],
    ['one long line', 'x'.repeat(100_000), 2, '… of 100000 bytes in all'],
    ['bytes', new Uint8Array(100_000).fill(0xff), 17, '… of 100000 bytes in all'],
  ])('%s', (_, bytes, count, last) => {
    const lines = linesOf(bytes);
    expect(lines).toHaveLength(count);
    expect(lines.at(-1)).toBe(last);
  });
});

describe('threats, row 25: no secret is left', () => {
  test.each<[string, Uint8Array | string]>([
    ['in a text', '{"a":"canary-secret"}'],
    ['in a large text', `{"a":"canary-secret${'x'.repeat(100_000)}"}`],
    ['in bytes', Buffer.concat([Buffer.from([0xff]), Buffer.from('canary-secret')])],
    ['in the query of a consent URL', '{"type":"oauth","auth_url":"https://auth.example/?state=canary"}'],
  ])('%s', (_, bytes) => {
    expect(linesOf(bytes, ['canary-secret']).join('\n')).not.toContain('canary');
  });
});

test('threats, row 24: whatever the bytes are, each line is safe to print', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), bytes => {
      for (const line of linesOf(bytes)) {
        expect(countUnseen(line)).toBe(0);
        expect(line).not.toContain('\n');
      }
    }),
  );
});
