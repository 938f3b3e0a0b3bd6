/** A limit that a peer can reach. */
interface Limit {
  readonly value: number;
  readonly what: string;
  /** What happens beyond it. */
  readonly beyond: string;
  /** The row of the table of attacks in the guide `security`. */
  readonly threat: number;
}

const KIB = 1024;

const MIB = 1024 * KIB;

/** Every limit that a peer can reach. Limits of what is drawn stand beside the code that draws. */
export const LIMITS = {
  ringEvents: {
    value: 10_000,
    what: 'events in memory',
    beyond: 'the oldest are dropped, and counted; a transcript on disk is complete',
    threat: 15,
  },
  ringBytes: {
    value: 16 * MIB,
    what: 'events in memory',
    beyond: 'the oldest are dropped, and counted; a transcript on disk is complete',
    threat: 15,
  },
  requestsKept: {
    value: 2_000,
    what: 'requests of one call, or of none',
    beyond: 'the oldest are dropped, and counted; repeated results are still recognized',
    threat: 15,
  },
} as const satisfies Record<string, Limit>;
