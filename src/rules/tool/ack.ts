import { ACK_TOLERANCE_MS } from '../../exchange/exchange.js';
import { formatDuration } from '../../text/format-duration.js';
import type { CallEvidence, Evidence } from '../evidence/evidence.js';
import { endedAt, type Leg, statusOf } from '../evidence/leg.js';
import { isResult } from '../evidence/results.js';
import { broken, doubtful, held, type Observation, unseen } from '../observation.js';
import type { Rule } from '../rule.js';

const LATEST_MS = 1_000;
const SLOW_MS = 250;

/** TOOL-ACK: the 200 comes before the result, and soon. */
export const acknowledgesAtOnce: Rule = {
  id: 'TOOL-ACK',
  masks: ['TOOL-UNKNOWN-OP', 'TOOL-BAD-ARGS', 'TOOL-EXTRA', 'TOOL-MALFORMED'],
  absent: 'no invocation was sent',
  observe: ({ calls }: Evidence) =>
    calls.flatMap(call => (call.reading.ok ? call.attempts.map(attempt => onAttempt(attempt, call)) : [])),
};

function onAttempt(attempt: Leg, { callbacks, attempts }: CallEvidence): Observation {
  const { request } = attempt;
  const status = statusOf(attempt);
  const ended = endedAt(attempt);
  if (ended === null || status === null)
    return attempt === attempts.at(-1)
      ? unseen('an invocation was never answered', [attempt])
      : held([attempt], 'sent again');
  if (status !== 200)
    return broken(`answered ${status}`, [attempt], { expected: '200', actual: String(status) });
  const result = callbacks.find(isResult);
  if (result && ended - result.request.at > ACK_TOLERANCE_MS)
    return broken('the 200 came after the result', [attempt, result]);
  return inTime(ended - request.at, attempt);
}

function inTime(ms: number, attempt: Leg): Observation {
  const took = `the 200 took ${formatDuration(ms)}`;
  if (ms > LATEST_MS)
    return broken(took, [attempt], { expected: `within ${LATEST_MS} ms`, actual: formatDuration(ms) });
  return ms > SLOW_MS ? doubtful(took, [attempt]) : held([attempt]);
}
