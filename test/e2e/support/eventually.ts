import { setTimeout as pause } from 'node:timers/promises';

const DEADLINE_MS = 45_000;
const EVERY_MS = 15;

/** Asks until there is an answer. @throws Error that names what was waited for, after 45 s: sooner than a test's own time is over. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`without success: ${what}`);
    await pause(EVERY_MS);
  }
}
