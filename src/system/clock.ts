export interface Clock {
  /** Monotonic milliseconds: deadlines survive a clock that jumps. */
  now(): number;
  wall(): Date;
  /** Calls back once, after `ms` milliseconds. Returns how to cancel it. */
  after(ms: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => new Date(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
