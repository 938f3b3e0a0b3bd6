import type { Clock } from '../../src/system/clock.js';

export interface FakeClock extends Clock {
  /** Lets time pass; what falls due meanwhile is called, in its order, at its time. */
  advance(milliseconds: number): void;
  /** How many timers are set. */
  pending(): number;
}

interface Timer {
  readonly due: number;
  readonly callback: () => void;
}

/** Time that passes only when it is asked to. It starts at `start`, in ms. */
export function fakeClock(start = 1_000): FakeClock {
  let now = start;
  const timers = new Set<Timer>();
  const nextDue = (until: number) =>
    [...timers].filter(({ due }) => due <= until).sort((a, b) => a.due - b.due)[0];
  return {
    now: () => now,
    runnable: () => now,
    wall: () => new Date(Date.UTC(2025, 0, 1) + now),
    after(milliseconds, callback) {
      const timer = { due: now + milliseconds, callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance(milliseconds) {
      const until = now + milliseconds;
      for (let timer = nextDue(until); timer; timer = nextDue(until)) {
        now = timer.due;
        timers.delete(timer);
        timer.callback();
      }
      now = until;
    },
    pending: () => timers.size,
  };
}
