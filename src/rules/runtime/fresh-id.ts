import { isSame } from '../../exchange/callback-delivery.js';
import { excerpt } from '../../text/excerpt.js';
import type { CallEvidence, Evidence } from '../evidence/evidence.js';
import { broken, held, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';

/** RT-ID: an id stands for one call of its thread; the same call may be sent again. */
export const usesFreshIds: Rule = {
  id: 'RT-ID',
  absent: 'no invocation was sent',
  observe: ({ calls }: Evidence) => {
    const firsts = new Map<string, CallEvidence>();
    return calls.flatMap(call => onCall(call, firsts));
  },
};

function onCall(call: CallEvidence, firsts: Map<string, CallEvidence>): Observation[] {
  if (!call.reading.ok) return [];
  const { id, group_id } = call.reading.invocation;
  const name = JSON.stringify([group_id, id]);
  const before = firsts.get(name);
  if (!before) firsts.set(name, call);
  const proof = [...(before?.attempts.slice(0, 1) ?? []), ...call.attempts];
  if (isOneCall(proof)) return [held(call.attempts)];
  return [broken(`the id ${excerpt(id)} was used for two calls of its thread`, proof)];
}

function isOneCall([first, ...others]: CallEvidence['attempts']): boolean {
  return others.every(({ request }) => isSame(request.body ?? null, first?.request.body ?? null));
}
