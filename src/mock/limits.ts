/** Default limits; the command's help shows the same values. */
export const DEFAULTS = {
  maxPending: 10_000,
  /** Total size of the bodies of pending callbacks, in bytes. */
  maxPendingBytes: 256 * 1024 * 1024,
  retries: 5,
  maxBody: 10 * 1024 * 1024,
  keep: 10_000,
  /** Minimum number of finished calls that a durable journal remembers. */
  journalCalls: 100_000,
  drainMs: 5_000,
  /** Timeout of one callback attempt, in ms. */
  attemptMs: 15_000,
  /** Maximum pause between two attempts, in ms. */
  maxPauseMs: 30_000,
  perOrigin: 256,
} as const;

/** Maximum number of calls per time window; all of them may arrive at once. */
export interface Rate {
  readonly calls: number;
  readonly within: number;
}
