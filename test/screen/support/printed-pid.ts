import type { Screen } from './screen.js';

const PID = /pid (\d+)\s/;

/** The pid that a shell printed with `echo "pid $$"`, even if another screen hides it now. */
export async function printedPid({ emulator }: Pick<Screen, 'emulator'>): Promise<number> {
  await emulator.waitFor('a pid was reported', () => PID.test(emulator.raw));
  return Number(PID.exec(emulator.raw)?.[1]);
}
