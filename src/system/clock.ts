export interface Clock {
  /** Monotonic milliseconds, so that changes of the system time do not affect deadlines. */
  now(): number;
  wall(): Date;
  /** Calls back once after `ms` milliseconds. Returns a function that cancels it. */
  after(ms: number, callback: () => void): () => void;
}

/** Maximum delay of a timer in Node.js, which fires longer ones at once. */
const MAX_MS = 2 ** 31 - 1;

/** After a blocked event loop, input that has arrived is handled before a time limit ends the wait for it. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => new Date(),
  after(ms, callback) {
    let timer: NodeJS.Timeout;
    let due: NodeJS.Immediate | undefined;
    const end = () => {
      due = setImmediate(callback);
    };
    const wait = (left: number) => {
      timer = setTimeout(() => (left > MAX_MS ? wait(left - MAX_MS) : end()), Math.min(left, MAX_MS));
    };
    wait(ms);
    return () => {
      clearTimeout(timer);
      clearImmediate(due);
    };
  },
};
