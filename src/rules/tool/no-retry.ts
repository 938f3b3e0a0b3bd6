import { formatDuration } from '../../text/format-duration.js';
import { type Delivery, deliveriesOf } from '../evidence/deliveries.js';
import type { CallbackEvidence, CallEvidence, Evidence } from '../evidence/evidence.js';
import { endedAt, isRefused, statusOf } from '../evidence/leg.js';
import { isOwn, saysTheSame, toldAs } from '../evidence/messages.js';
import { watchedSince } from '../evidence/windows.js';
import { broken, doubtful, held, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';

/** Within less time than this not even a hasty tool would have tried again. In ms. */
const LEAST_MS = 1_000;

/** TOOL-NORETRY: what was refused for good does not come again. */
export const takesNoForAnAnswer: Rule = {
  id: 'TOOL-NORETRY',
  absent: 'no callback was answered 4xx and looked out for afterwards',
  observe: evidence =>
    evidence.calls.flatMap(call => [
      ...deliveriesOf(call).flatMap(delivery => onDelivery(delivery, evidence)),
      ...onOtherResults(call),
    ]),
};

/** In other words it may be no retry, and yet the call was over for whoever refused it. */
function onOtherResults(call: CallEvidence): readonly Observation[] {
  const { reading } = call;
  if (!reading.ok) return [];
  const results = toldAs(call, 'tool_result').filter(({ message }) => isOwn(message, reading.invocation));
  const refused = results.find(({ callback }) => isForGood(callback))?.callback;
  if (!refused) return [];
  const other = results.find(
    ({ callback }) => callback.request.seq > lastOf(refused) && !saysTheSame(callback, refused),
  )?.callback;
  return other
    ? [doubtful(`answered ${statusOf(refused)}, and another tool_result came`, [refused, other])]
    : [];
}

function lastOf({ request, response }: CallbackEvidence): number {
  return response?.seq ?? request.seq;
}

function onDelivery(delivery: Delivery, evidence: Evidence): readonly Observation[] {
  const refused = delivery.find(isForGood);
  if (!refused) return [];
  const endOfIt = endedAt(refused) ?? refused.request.at;
  const again = delivery.find(({ request }) => request.at >= endOfIt && request.seq > refused.request.seq);
  if (again) {
    const pause = formatDuration(again.request.at - endOfIt);
    return [broken(`answered ${statusOf(refused)}, and sent again after ${pause}`, [refused, again])];
  }
  const watched = watchedSince(endOfIt, evidence);
  return watched < LEAST_MS ? [] : [held([refused], `not sent again within ${formatDuration(watched)}`)];
}

/** Who is told to slow down, or took too long, may well try again. */
function isForGood(callback: Delivery[0]): boolean {
  return isRefused(callback) && statusOf(callback) !== 408 && statusOf(callback) !== 429;
}
