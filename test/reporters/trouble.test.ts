import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { faultText, troubleText, warningText, wrapMessages } from '../../src/render/outputs/trouble.js';
import { anyCodePoint } from '../support/characters.js';

test('row 24: contains no raw control characters and no injected lines', () => {
  const foreign = fc.string({ unit: anyCodePoint });
  fc.assert(
    fc.property(foreign, foreign, foreign, (message, fault, hint) => {
      const text = troubleText({ code: 'usage', message, faults: [fault], hint }) + warningText({ message });
      expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      expect(text.split('\n')).toHaveLength(hint === '' ? 4 : 5);
    }),
  );
});

test('wraps long lines at spaces on a terminal, at 80 columns or less; not in a pipe', () => {
  const text = `error: ${'words of a long message '.repeat(8).trim()}\n  a fault\nhint: short\n`;
  expect(wrapMessages(text, {})).toBe(text);
  const wrapped = wrapMessages(text, { isTTY: true, columns: 200 });
  expect(Math.max(...wrapped.split('\n').map(line => line.length))).toBeLessThanOrEqual(80);
  expect(wrapped.replaceAll('\n', ' ')).toBe(text.replaceAll('\n', ' '));
  expect(wrapped).toMatch(/\n {2}a fault\nhint: short\n$/);
  const url = `error: see http://127.0.0.1/${'x'.repeat(100)}\n`;
  expect(wrapMessages(url, { isTTY: true, columns: 40 })).toBe(url.replace('see ', 'see\n'));
});

const ERROR = Object.assign(new Error('x is not a function'), {
  stack: 'Error: x is not a function\n    at place.js:1:1',
});
const HERE = { program: 'protocol-cli/1.2.3, node v20', hasUserCode: false, wantsStack: false };

describe('an unexpected error', () => {
  test('describes the failure as a bug and how to report it, without a stack', () => {
    expect(faultText(ERROR, HERE)).toBe(
      'internal error: x is not a function\nhint: This is a bug in protocol-cli. Please report it with the stack trace printed with DEBUG=1 (protocol-cli/1.2.3, node v20); run "npm bugs protocol-cli" to open the issue tracker.\n',
    );
  });

  test('shows the stack if user code is running', () => {
    const text = faultText(ERROR, { ...HERE, hasUserCode: true });
    expect(text).toContain(
      '\n    at place.js:1:1\nhint: The error was not caught. If the stack trace names one of your modules',
    );
    expect(text).not.toContain('not yours');
  });

  test('may be any value; threats, row 24: even a hostile one', () => {
    expect(faultText('gone', HERE)).toContain('internal error: gone\n');
    expect(faultText(new Error('\u001b[2J'), HERE)).toContain('internal error: ␛[2J\n');
  });
});
