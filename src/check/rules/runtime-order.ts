import { groupBy } from '../../util/collections.js';
import { longExcerpt } from '../../util/text.js';
import type { CallbackEvidence, ReceivedCallback } from '../callback-evidence.js';
import type { DriverEvidence, ObservationMessage } from '../driver-evidence.js';
import type { Evidence } from '../evidence.js';
import { messagesOf } from '../recorded-call.js';
import { defineRules, met, type Observed, unrecorded, violated } from '../rule.js';
import { MAX_QUOTE_LENGTH } from '../rule-details.js';

/** The order in which a runtime handles callbacks. */
export const runtimeOrderRules = defineRules({
  'RT-SERIAL': {
    level: 'MUST',
    statement: 'handles messages of one thread in order, and threads in parallel',
    advice: 'Queue the messages of a thread, and handle them one after another.',
    masks: ['RT-TEXT', 'RT-OAUTH', 'RT-CHOICE', 'RT-SUB', 'RT-VIEW'],
    needs: ['model'],
    absent: 'not visible in HTTP traffic: it concerns work after the answer',
    observe: evidence => [judgeSameTime(evidence), judgeOrder(evidence)],
  },
});

/** Callbacks that come while another one is handled must not fail. */
function judgeSameTime({ calls, driver }: Evidence): Observed {
  if (!driver || driver.crash) return null;
  const endAt = driver.instructions('end')[0]?.event.seq ?? Number.POSITIVE_INFINITY;
  const received = calls
    .flatMap(call => call.received)
    .map(({ callback }) => callback)
    .filter(({ isUnsent, hasJsonType, lastSeq }) => !isUnsent && hasJsonType && lastSeq < endAt);
  return received.map(callback => {
    const { end, status } = callback;
    const other = received.find(each => each !== callback && isAtOnce(callback, each));
    if (!end || !other) return null;
    if (status !== null && status < 500) return met([callback, other]);
    const what = `was answered ${status ?? 'nothing'} while another callback was handled`;
    return violated(what, [callback, other]);
  });
}

function isAtOnce(one: CallbackEvidence, other: CallbackEvidence): boolean {
  const isBefore = ({ end }: CallbackEvidence, { request }: CallbackEvidence) =>
    (end?.seq ?? 0) < request.seq;
  return !isBefore(one, other) && !isBefore(other, one);
}

/** Minimum time between two requests after which they cannot arrive together, in ms. */
const MIN_GAP_MS = 150;

/**
 * The model must get the events of a thread in the order in which they arrived; results of several calls may be given to it together.
 * Events that are not associative belong to child threads, which run side by side.
 */
function judgeOrder({ calls, driver }: Evidence): Observed {
  if (!driver) return null;
  const events = calls.flatMap(call => {
    const overSince = driver.mayIgnoreFromSeqOf(call);
    return messagesOf(call, 'subscription_event').filter(
      ({ callback, message }) =>
        message.associative && isAccepted(callback) && callback.request.seq <= overSince,
    );
  });
  const threads = groupBy(events, ({ message }) => [message.group_id]).values();
  return [...threads].map(thread => judgeOrderIn(thread, driver));
}

function isAccepted({ status, verdict }: CallbackEvidence): boolean {
  return status !== null && status < 300 && verdict?.kind === 'noted';
}

/** @param thread the accepted events of a thread */
function judgeOrderIn(
  thread: readonly ReceivedCallback<'subscription_event'>[],
  driver: DriverEvidence,
): Observed {
  const texts = driver.observations('model');
  const shown = thread
    .flatMap(({ callback, message: { text } }) => {
      const seen = texts.find(each => each.message.text === text);
      return seen ? [{ callback, seen }] : [];
    })
    .toSorted((one, other) => one.seen.event.seq - other.seen.event.seq);
  const order = shown.slice(1).map((later, index) => {
    const earlier = shown[index];
    if (!earlier) return null;
    const seen = [earlier.seen, later.seen];
    if (isSentAfter(earlier.callback, later.callback))
      return violated(
        'the model got two events in the wrong order',
        [later.callback, earlier.callback, ...seen],
        {
          expected: textsOf(later, earlier),
          actual: textsOf(earlier, later),
        },
      );
    return isSentAfter(later.callback, earlier.callback)
      ? met([earlier.callback, later.callback, ...seen])
      : null;
  });
  const lost = thread
    .filter(({ message }) => !driver.textForModel(message.text))
    .map(({ callback }) => {
      const later = shown.find(each => isSentAfter(each.callback, callback));
      return later
        ? unrecorded(
            'an event never reached the model, and a later one of its thread did: it may have been handled too late',
            [callback, later.callback, later.seen],
          )
        : null;
    });
  return [order, lost];
}

/** The texts of two events, in an order. */
function textsOf(...events: readonly { readonly seen: ObservationMessage<'model'> }[]): string {
  return events.map(({ seen }) => longExcerpt(seen.message.text, MAX_QUOTE_LENGTH)).join(', then ');
}

/** Whether a message was sent after the answer to another one, or so long after it that a runtime must have read it. */
function isSentAfter({ request }: CallbackEvidence, { request: first, end }: CallbackEvidence): boolean {
  return request.at - first.at >= MIN_GAP_MS || (end !== null && end.seq < request.seq);
}
