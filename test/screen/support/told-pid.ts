import type { Screen } from './screen.js';

const PID = /pid (\d+)\s/;

/** What a line of shell tells with `echo "pid $$"`, also where another screen hides it by now. */
export async function toldPid({ emulator }: Pick<Screen, 'emulator'>): Promise<number> {
  await emulator.waitFor('a pid was reported', () => PID.test(emulator.raw));
  return Number(PID.exec(emulator.raw)?.[1]);
}
