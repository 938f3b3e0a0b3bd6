import { formatDuration } from '../../../text/format-duration.js';
import type { CallEvidence, Evidence } from '../../evidence/evidence.js';
import { endedAt, isFailedForNow, type Leg, statusOf } from '../../evidence/leg.js';
import type { Told } from '../../evidence/messages.js';
import { watchedSince } from '../../evidence/windows.js';
import { broken, held, heldBut, type Observation } from '../../observation.js';

type News = readonly Told<'subscription_event'>[];

/** What was on its way when the cancel was acknowledged may still come. In ms. */
const GRACE_MS = 500;

/** A notice that was taken, and when. */
interface Cancel {
  readonly notice: Leg;
  readonly at: number;
}

/**
 * An event that came once it was too late for one; null where it was not. The first may have been on its way, for as long as a busy
 * machine takes: who sends another one when that was answered has not heard of the cancel.
 */
export function onLateEvent({ callback }: News[0], news: News, call: CallEvidence): Observation | null {
  const cancel = cancelOf(call);
  if (!cancel || !isLate(callback, cancel)) return null;
  const after = formatDuration(callback.request.at - cancel.at);
  const goesOn = news.some(each => isTakenBetween(each.callback, cancel, callback));
  return goesOn
    ? broken(
        `an event came more than ${GRACE_MS}ms after the cancel was acknowledged`,
        [cancel.notice, callback],
        {
          expected: 'nothing after a cancel',
          actual: `after ${after}`,
        },
      )
    : heldBut(`an event came ${after} after the cancel was acknowledged, and may have been on its way`, [
        cancel.notice,
        callback,
      ]);
}

/** That nothing came, for as long as somebody looked out. */
export function onSilence(
  start: Leg,
  news: News,
  call: CallEvidence,
  evidence: Evidence,
): readonly Observation[] {
  const cancel = cancelOf(call);
  if (!cancel || news.some(({ callback }) => isLate(callback, cancel))) return [];
  const watched = watchedSince(cancel.at, evidence);
  if (watched <= GRACE_MS) return [];
  const what = `nothing from ${GRACE_MS}ms to ${formatDuration(watched)} after the cancel`;
  return [held([start, cancel.notice], what)];
}

function cancelOf({ cancels }: CallEvidence): Cancel | null {
  const notice = cancels.find(cancel => statusOf(cancel) === 200);
  const at = notice && endedAt(notice);
  return notice && typeof at === 'number' ? { notice, at } : null;
}

function isLate({ request }: Leg, { at }: Cancel): boolean {
  return request.at > at + GRACE_MS;
}

/** What was not taken comes again, and is the same event. */
function isTakenBetween(leg: Leg, { at }: Cancel, { request }: Leg): boolean {
  const isTaken = leg.response !== null && !isFailedForNow(leg) && leg.response.seq < request.seq;
  return isTaken && leg.request.at > at;
}
