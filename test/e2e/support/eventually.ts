import { setTimeout as pause } from 'node:timers/promises';

const DEADLINE_MS = 120_000;
const FIRST_PAUSE_MS = 15;

/** Asks until there is an answer. @throws Error that names what was waited for, after 2 minutes: sooner than a test's own time is over. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  const began = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    const waited = performance.now() - began;
    if (waited > DEADLINE_MS) throw new Error(`without success: ${what}`);
    await pause(FIRST_PAUSE_MS + waited / 20); // what is slow may be large, and is not asked for all the time
  }
}
