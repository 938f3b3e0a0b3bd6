import type { CallbackEvidence, CallEvidence, Evidence } from '../evidence/evidence.js';
import { isRefused } from '../evidence/leg.js';
import { broken, doubtful, held, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';

/** RT-MATCH: a result with ids that are no pending call's does nothing. Answered 2xx, what became of it cannot be seen: unless it took the call's place. */
export const matchesResults: Rule = {
  id: 'RT-MATCH',
  absent: 'no result came with ids that match no pending call',
  observe: ({ calls }: Evidence) => calls.flatMap(onCall),
};

function onCall({ callbacks }: CallEvidence): Observation[] {
  return callbacks.filter(isForAnother).map(forged => {
    if (isRefused(forged)) return held([forged]);
    const real = callbacks.find(each => each.verdict?.kind === 'settles' && isRefused(each));
    if (real) return broken("was taken for the call's, whose own result was then refused", [forged, real]);
    return doubtful('was answered as if it had been expected; whether it was discarded cannot be seen', [
      forged,
    ]);
  });
}

function isForAnother({ verdict, reading, response }: CallbackEvidence): boolean {
  const type = reading?.ok ? reading.message.type : null;
  return verdict?.kind === 'discarded' && response !== null && type !== 'subscription_event';
}
