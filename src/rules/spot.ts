import type { Leg } from './evidence/leg.js';

/** Where in a message a finding is: a member of its JSON, also one that is missing, or a part of the text there. */
export interface Spot {
  /** `seq` of the request or the response whose body it is. */
  readonly event: number;
  readonly path: readonly (string | number)[];
  /** Of the text there: the first character, and the one after the last. */
  readonly range?: readonly [from: number, to: number];
}

/** A member of what was sent. */
export function sent({ request }: Leg, ...path: Spot['path']): Spot {
  return { event: request.seq, path };
}
