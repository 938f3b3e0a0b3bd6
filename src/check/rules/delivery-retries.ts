import type { RoundTrip } from '../../events/round-trips.js';
import { groupBy } from '../../util/collections.js';
import { formatDuration } from '../../util/text.js';
import type { CallEvidence } from '../call.js';
import type { CallbackEvidence } from '../callback-evidence.js';
import type { Evidence } from '../evidence.js';
import { judgeRetries } from '../retries.js';
import {
  defineRules,
  doubtful,
  met,
  type Observed,
  unrecorded,
  violated,
  violatedIfComplete,
} from '../rule.js';
import { toolCrashObservation } from '../rule-details.js';
import { clockTime } from '../times.js';

/** Minimum time to show that no retry comes, in ms. */
const MIN_WAIT_MS = 1_000;

/** When a tool sends a callback again. */
export const deliveryRetryRules = defineRules({
  'TOOL-RETRY': {
    level: 'SHOULD',
    statement: 'retries a callback after a 5xx or a lost connection, with growing pauses',
    advice: 'Retry a callback a few times after a 5xx or a lost connection, with growing pauses.',
    failsWhere: 'the tool crashes',
    absent: 'no callback was answered 5xx or lost',
    observe: judgeFailedDeliveries,
  },
  'TOOL-NORETRY': {
    level: 'SHOULD',
    statement: 'does not retry a callback that was answered 4xx, or 200 with any body',
    advice: 'Stop retrying a callback after a 4xx, and log it; after a 200 too, and do not read its body.',
    absent:
      'no callback at a callback URL was answered 4xx, or 200 with a body, with enough recording time afterwards',
    observe: ({ calls, until }) => [
      calls.map(call => [
        ...deliveriesOf(call).map(delivery => judgeRefused(delivery, until)),
        judgeOtherResult(call.results),
      ]),
      judgeAnswersWithBody(calls, until),
    ],
  },
});

/** A callback, and what was sent again of it. */
type Delivery = readonly [CallbackEvidence, ...CallbackEvidence[]];

/** The callbacks of a call, grouped by message. A callback without a body is a group of its own. */
function deliveriesOf({ callbacks }: CallEvidence): readonly Delivery[] {
  const groups = groupBy(callbacks, callback => [callback.fingerprint ?? callback]);
  return [...groups.values()].filter((group): group is [CallbackEvidence] => group.length > 0);
}

/** Minimum pause that counts, in ms. A single random pause may be shorter (full jitter). */
const MIN_PAUSE_MS = 5;

function judgeFailedDeliveries(evidence: Evidence): Observed {
  const end = toolCrashObservation(evidence, 'callback', 'one of its callbacks was lost or refused');
  if (end) return end;
  const failed = evidence.calls
    .filter(({ isInterrupted }) => !isInterrupted)
    .flatMap(call =>
      deliveriesOf(call)
        .filter(([first]) => first.isFailed && first.lastSeq < call.canceledAtSeq) // no retry is needed after a cancel
        .map(delivery => ({ delivery, isWaited: call.timeout !== undefined })),
    );
  const latest = failed
    .filter(({ delivery }) => delivery.length === 1)
    .reduce((last, { delivery }) => Math.max(last, delivery[0].latestAt), 0);
  const watched = Math.max(0, evidence.until - latest);
  return failed.map(({ delivery, isWaited }) => {
    if (delivery.length > 1)
      return judgeRetries(delivery, pauses => pauses.every(pause => pause < MIN_PAUSE_MS));
    const judged = isWaited || watched >= MIN_WAIT_MS ? violatedIfComplete : unrecorded;
    return judged(
      `no retry within ${formatDuration(watched)}${evidence.isLive ? '; use --probe-timeout to wait longer' : ''}`,
      delivery,
    );
  });
}

/** 408 and 429 allow a retry. */
function isFinalRefusal({ isRefused, status }: RoundTrip): boolean {
  return isRefused && status !== 408 && status !== 429;
}

function judgeRefused(delivery: Delivery, until: number): Observed {
  const refused = delivery.find(isFinalRefusal);
  if (!refused) return null;
  const { latestAt, status } = refused;
  const again = delivery.find(({ request }) => request.at >= latestAt && request.seq > refused.request.seq);
  if (again) {
    const pause = formatDuration(clockTime(again.request) - clockTime(refused.end ?? refused.request));
    return violated(`answered ${status}, and sent again after ${pause}`, [refused, again]);
  }
  const watched = Math.max(0, until - latestAt);
  return watched < MIN_WAIT_MS ? null : met(refused, `not sent again within ${formatDuration(watched)}`);
}

/** A different result is not a retry, but the call was over after the refusal. */
function judgeOtherResult(results: readonly CallbackEvidence[]): Observed {
  const refused = results.find(isFinalRefusal);
  const other = refused && results.find(each => each.request.seq > refused.lastSeq && !each.equals(refused));
  return other
    ? doubtful(`answered ${refused.status}, and another tool_result came`, [refused, other])
    : null;
}

/** Only a probe answers with a body on purpose. A tool that repeats every callback does not do so because of the body. */
function judgeAnswersWithBody(calls: readonly CallEvidence[], until: number): Observed {
  const accepted = calls.flatMap(call =>
    deliveriesOf(call)
      .filter(([{ status, message }]) => status === 200 && message && 'id' in message) // equal events and views are no retries
      .map(([first, again]) => ({ call, first, again })),
  );
  if (accepted.some(({ first, again }) => again && first.responseSize === 0)) return null;
  return accepted
    .filter(({ call, first }) => first.responseSize > 0 && call.isProbed)
    .map(({ first, again }) => {
      if (again) return violated('answered 200 with a body, and sent again', [first, again]);
      const watched = Math.max(0, until - first.latestAt);
      return watched < MIN_WAIT_MS ? null : met(first, `not sent again within ${formatDuration(watched)}`);
    });
}
