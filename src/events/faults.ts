/** What a plan does to a callback: it is not sent, the runtime is right to refuse it, or it must be accepted. */
type Effect = 'unsent' | 'refusable' | 'accepted';

export const CALLBACK_FAULTS = {
  drop: 'unsent',
  duplicate: 'accepted',
  'before-ack': 'accepted',
  'wrong-id': 'refusable',
  'wrong-group': 'refusable',
  malformed: 'refusable',
  oversize: 'refusable',
  slow: 'accepted',
  'wrong-type': 'refusable',
  'after-cancel': 'refusable',
} as const satisfies Record<string, Effect>;

/** The requests, besides invocations, for which faults can be planned. The plan is the request and the fault: `choice status`. */
export type FaultyRequest = 'discovery' | 'cancel' | 'close' | 'migrate' | 'choice';

const EFFECTS = new Map<string, Effect>([
  ['silence', 'unsent'],
  ['message', 'refusable'], // usually an invalid one
  ...Object.entries(CALLBACK_FAULTS),
]);

/** @param plan a fault, or another plan of a mock */
export function effectOf(plan: string): Effect {
  return EFFECTS.get(plan) ?? 'accepted';
}
