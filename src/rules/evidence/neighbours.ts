import type { Invocation } from '../../protocol/invocation.js';
import type { CallEvidence } from './evidence.js';

/** What a call and everything about it is named by. */
export type Name = 'id' | 'group_id' | 'call_id';

/** Which names are in use, and by which calls. */
export interface Names {
  /** Whether a name is another call's, and not this one's. */
  isOthers(name: Name, value: string, own: Invocation): boolean;
}

export function namesOf(calls: readonly CallEvidence[]): Names {
  const known = { id: new Set(), group_id: new Set(), call_id: new Set() };
  for (const { reading } of calls)
    if (reading.ok)
      for (const name of ['id', 'group_id', 'call_id'] as const) known[name].add(reading.invocation[name]);
  return { isOthers: (name, value, own) => value !== own[name] && known[name].has(value) };
}
