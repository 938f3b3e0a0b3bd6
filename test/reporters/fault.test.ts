import { describe, expect, test } from 'vitest';
import { faultText } from '../../src/render/outputs/trouble.js';

const ERROR = Object.assign(new Error('x is not a function'), {
  stack: 'Error: x is not a function\n    at place.js:1:1',
});
const HERE = { program: 'protocol-cli/1.2.3, node v20', hasGuests: false, wantsStack: false };

describe('an error that no one was prepared for', () => {
  test('says what failed, that it is our fault, and where to report it; no stack', () => {
    expect(faultText(ERROR, HERE)).toBe(
      'internal error: x is not a function\nhint: This is a bug in protocol-cli. Please report it with the stack trace printed with DEBUG=1 (protocol-cli/1.2.3, node v20); run "npm bugs protocol-cli" to open the issue tracker.\n',
    );
  });

  test('shows it where code runs that is not ours: it may be its fault', () => {
    const text = faultText(ERROR, { ...HERE, hasGuests: true });
    expect(text).toContain(
      '\n    at place.js:1:1\nhint: The error was not caught. If the stack trace names one of your modules',
    );
    expect(text).not.toContain('not yours');
  });

  test('may be no error at all; threats, row 24: or a hostile one', () => {
    expect(faultText('gone', HERE)).toContain('internal error: gone\n');
    expect(faultText(new Error('\u001b[2J'), HERE)).toContain('internal error: ␛[2J\n');
  });
});
