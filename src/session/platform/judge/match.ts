import { isEqual } from '../../../fixtures/matching/equal.js';
import type { PendingCall, Session } from '../state/session.js';

/** Which call a `tool_req` is about; `settled`: it has its answer already. */
export type Match =
  | { readonly kind: 'pending' | 'settled'; readonly call: PendingCall }
  | { readonly kind: 'unknown' };

interface Echoed {
  readonly tool_name: string;
  readonly id?: string | null | undefined;
  /** As sent. */
  readonly args: unknown;
}

/**
 * By the id; one without an id by name and arguments, the first that waits.
 * @param taken keys of pending calls that the same body has answered before
 */
export function match(session: Session, echoed: Echoed, taken: ReadonlySet<string>): Match {
  const isIt = (call: PendingCall) =>
    echoed.id == null ? call.id === null && differences(call, echoed).length === 0 : call.id === echoed.id;
  const pending = session.pending.find(call => isIt(call) && !taken.has(call.key));
  if (pending) return { kind: 'pending', call: pending };
  const settled = [...session.pending, ...session.settled.map(({ call }) => call)].find(isIt);
  return settled ? { kind: 'settled', call: settled } : { kind: 'unknown' };
}

/** What of a `tool_req` is not as it was published. Arguments that are left out are none. */
export function differences(call: PendingCall, echoed: Echoed): ('tool_name' | 'args')[] {
  const isNamed = call.tool_name === echoed.tool_name;
  const isSame = isEqual(call.args ?? {}, echoed.args ?? {});
  return [...(isNamed ? [] : (['tool_name'] as const)), ...(isSame ? [] : (['args'] as const))];
}
