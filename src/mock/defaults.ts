/** Default limits; the help of the command shows the same figures. */
export const DEFAULTS = {
  maxPending: 10_000,
  /** Of the bodies of callbacks that are on their way. */
  maxPendingBytes: 256 * 1024 * 1024,
  retries: 5,
  maxBody: 10 * 1024 * 1024,
  keep: 10_000,
  /** How many calls that are over a durable journal knows at least. */
  journalCalls: 100_000,
  drainMs: 5_000,
  /** Of one attempt of a callback, in ms. */
  attemptMs: 15_000,
  /** Between two attempts at most, in ms. */
  maxPauseMs: 30_000,
  perOrigin: 256,
} as const;
