import { expect, test } from 'vitest';
import { waitsForPeople } from '../../../src/commands/invoke/discover.js';
import type { Terminal } from '../../../src/commands/terminal.js';

const terminal = (isTTY: boolean) => ({ stdin: { isTTY }, stderr: { isTTY } }) as unknown as Terminal;

test.each([
  ['on a terminal, with --timeout', true, true, true],
  ['on a terminal', true, false, true],
  ['in a pipe', false, false, true],
  ['in a pipe, with --timeout', false, true, false],
])('%s, the time stands still while a person decides: %j', (_, isTTY, isTimeoutTold, waits) => {
  expect(waitsForPeople({ isTimeoutTold }, terminal(isTTY))).toBe(waits);
});
