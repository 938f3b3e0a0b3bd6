import fc from 'fast-check';
import { expect, test } from 'vitest';
import { troubleText, warningText, wrapMessages } from '../../src/render/outputs/trouble.js';
import { anyCodePoint } from '../support/characters.js';

test('row 24: nothing foreign acts, and no text makes lines of its own', () => {
  const foreign = fc.string({ unit: anyCodePoint });
  fc.assert(
    fc.property(foreign, foreign, foreign, (message, fault, hint) => {
      const text = troubleText({ code: 'usage', message, faults: [fault], hint }) + warningText({ message });
      expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      expect(text.split('\n')).toHaveLength(hint === '' ? 4 : 5);
    }),
  );
});

test('a long line is broken at spaces on a terminal, at most 80 columns wide; in a pipe it is whole', () => {
  const text = `error: ${'words of a long message '.repeat(8).trim()}\n  a fault\nhint: short\n`;
  expect(wrapMessages(text, {})).toBe(text);
  const wrapped = wrapMessages(text, { isTTY: true, columns: 200 });
  expect(Math.max(...wrapped.split('\n').map(line => line.length))).toBeLessThanOrEqual(80);
  expect(wrapped.replaceAll('\n', ' ')).toBe(text.replaceAll('\n', ' '));
  expect(wrapped).toMatch(/\n {2}a fault\nhint: short\n$/);
  const url = `error: see http://127.0.0.1/${'x'.repeat(100)}\n`;
  expect(wrapMessages(url, { isTTY: true, columns: 40 })).toBe(url.replace('see ', 'see\n'));
});
