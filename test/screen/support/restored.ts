import { expect } from 'vitest';
import type { Screen } from './screen.js';

/** What a shell is asked to end with, so that its terminal can be looked at. */
export const LOOK_BACK = 'echo "status $?"; stty -a';

/** The terminal is as it was before the program: its modes, its cursor, its screen, and what stood above. */
export function expectRestored({ emulator }: Pick<Screen, 'emulator'>, status: number, above = ''): void {
  expect(emulator.isAlternate).toBe(false);
  expect(emulator.isCursorVisible).toBe(true);
  expect(emulator.isReporting).toBe(false);
  const history = emulator.history();
  expect(history.startsWith(above)).toBe(true);
  expect(history).toContain(`status ${status}\n`);
  for (const mode of ['icanon', 'echo', 'isig', 'icrnl', 'opost'])
    expect(history).toMatch(new RegExp(`(?<!-)\\b${mode}\\b`));
  expect(emulator.raw).not.toContain('\u001b[3J');
}
