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
  eventsKept: {
    value: 10_000,
    what: 'events in memory',
    beyond: 'the oldest are dropped, and counted; a transcript on disk is complete',
    threat: 15,
  },
  bytesKept: {
    value: 32 * MIB,
    what: 'events in memory, in bytes',
    beyond: 'the oldest are dropped, and counted; a transcript on disk is complete',
    threat: 15,
  },
  callsKept: {
    value: 2_000,
    what: 'calls in memory',
    beyond: 'the oldest are dropped, and counted; a transcript on disk is complete',
    threat: 15,
  },
  eventsOfCall: {
    value: 2_000,
    what: 'events of one call in memory, and requests outside calls',
    beyond: 'the oldest are dropped, and counted; repeated results are still recognized',
    threat: 15,
  },
  openQuestions: {
    value: 100,
    what: 'open questions of one call',
    beyond: 'a further question is recorded, but not asked',
    threat: 15,
  },
} satisfies Record<string, Limit>;
