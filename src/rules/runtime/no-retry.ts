import { formatDuration } from '../../text/format-duration.js';
import type { CallEvidence, Evidence } from '../evidence/evidence.js';
import { endedAt, isRefused, statusOf } from '../evidence/leg.js';
import { broken, held, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';

/** RT-NORETRY: an invocation that was answered 4xx is not sent again. */
export const neverRetriesRefusals: Rule = {
  id: 'RT-NORETRY',
  absent: 'no invocation was answered 4xx',
  observe: ({ calls, until }: Evidence) => calls.flatMap(call => onCall(call, until)),
};

function onCall({ attempts }: CallEvidence, until: number): Observation[] {
  const at = attempts.findIndex(isRefused);
  const refused = attempts[at];
  if (!refused) return [];
  const next = attempts[at + 1];
  if (next) return [broken(`sent again after a ${statusOf(refused)}`, [refused, next])];
  return [held([refused], `not within ${formatDuration(until - (endedAt(refused) ?? until))}`)];
}
