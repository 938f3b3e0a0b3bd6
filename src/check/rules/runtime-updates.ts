import { isDeepStrictEqual } from 'node:util';
import { groupBy } from '../../util/collections.js';
import { stringsIn, valueAt } from '../../util/values.js';
import type { CallbackEvidence, ReceivedCallback } from '../callback-evidence.js';
import type { DriverEvidence, ObservationMessage } from '../driver-evidence.js';
import { messagesOf } from '../recorded-call.js';
import { defineRules, met, type Observed, unrecorded, violated, violatedIfComplete } from '../rule.js';
import { wrongRefusalDetails } from '../rule-details.js';

/** What a runtime does with the events of subscriptions, and with views. */
export const runtimeUpdateRules = defineRules({
  'RT-SUB': {
    level: 'MUST',
    statement: 'tracks subscriptions per thread, discards events of unknown or canceled ones, stops at final',
    advice:
      'Track subscriptions by thread and call, accept their events, and remove them at final or a cancel.',
    needs: ['model'],
    absent: 'no event of an open subscription came',
    observe: ({ calls, driver }) =>
      calls.map(call => {
        const overSince = driver?.mayIgnoreFromSeqOf(call) ?? Number.POSITIVE_INFINITY;
        const events = messagesOf(call, 'subscription_event');
        const lastShown = driver
          ? events.findLastIndex(({ message }) => driver.textForModel(message.text))
          : -1;
        return events.map((event, index) =>
          judgeEvent(event, { driver, overSince, isOvertaken: index < lastShown }),
        );
      }),
  },
  'RT-VIEW': {
    level: 'MUST',
    statement: 'keeps the latest view per thread and type, and passes it on unchanged, whatever its type',
    advice:
      'Answer every view_update with 200, and pass on the latest of each type; only a client may ignore a type.',
    needs: ['view'],
    absent: 'no view came',
    observe: ({ calls, unmatchedCallbacks, driver }) => {
      const updates = calls.flatMap(call => messagesOf(call, 'view_update')).filter(isView);
      const answers = updates.map(({ callback }) => {
        const { isRefused, status } = callback;
        if (status === null) return null;
        return isRefused
          ? violated(`a view was answered ${status}`, callback, wrongRefusalDetails(callback))
          : met(callback);
      });
      if (!driver) return answers;
      const others = [...calls.flatMap(call => call.callbacks), ...unmatchedCallbacks].filter(
        callback => callback.typeName === 'view_update' && !updates.some(each => each.callback === callback),
      );
      return [answers, judgeShownViews(updates, others, driver), judgeViewTexts(updates, driver)];
    },
  },
});

type SubscriptionEvent = ReceivedCallback<'subscription_event'>;

interface Circumstances {
  readonly driver: DriverEvidence | null;
  /** The `seq` from which on the runtime may ignore events of the call. */
  readonly overSince: number;
  /** Whether a later event of the call reached the model. */
  readonly isOvertaken: boolean;
}

function judgeEvent(event: SubscriptionEvent, { driver, overSince, isOvertaken }: Circumstances): Observed {
  const { callback, message } = event;
  const { isRefused, status, verdict, lastSeq } = callback;
  if (verdict?.kind === 'discarded') return judgeForeignEvent(event, driver, verdict.reason);
  if (verdict?.kind === 'late') return judgeForeignEvent(event, driver, 'the subscription was canceled');
  if (status === null || verdict?.kind !== 'noted' || lastSeq > overSince) return null;
  if (isRefused)
    return violatedIfComplete(
      `an event of an open subscription was answered ${status}`,
      callback,
      wrongRefusalDetails(callback),
    );
  if (!driver || driver.textForModel(message.text)) return met(callback);
  const what = 'an event of an open subscription did not reach the model';
  return violatedIfComplete(
    isOvertaken ? `${what}, but a later one did: handle the messages of a thread in order` : what,
    callback,
  );
}

/** The protocol leaves the answer to an unexpected event open; the model must not get it. */
function judgeForeignEvent(
  { callback, message }: SubscriptionEvent,
  driver: DriverEvidence | null,
  reason: string,
): Observed {
  const line = driver ? driver.textForModel(message.text) : undefined;
  if (line) return violated(`an event reached the model, but ${reason}`, [callback, line]);
  if (callback.isRefused || driver) return met(callback, 'others are discarded');
  return callback.verdict?.kind === 'discarded' && callback.status !== null
    ? unrecorded(
        `an event was accepted, but ${reason}; the transcript does not show whether it was discarded`,
        callback,
      )
    : null;
}

type View = ReceivedCallback<'view_update'>;

function isView({ callback: { verdict } }: View): boolean {
  return verdict?.kind === 'noted' || verdict?.kind === 'ignored';
}

/**
 * The runtime must show the latest content of each view, and only content that the tool sent.
 * @param others views that the runtime must not show (RT-VALIDATE, RT-MATCH)
 */
function judgeShownViews(
  updates: readonly View[],
  others: readonly CallbackEvidence[],
  driver: DriverEvidence,
): Observed {
  const accepted = updates.filter(({ callback }) => callback.response && !callback.isRefused);
  const shown = driver.observations('view');
  const latest = groupBy(accepted, ({ message }) => [`${message.group_id} ${message.view_type}`]);
  const missing = [...latest.values()].map(group => {
    const last = group.at(-1);
    if (!last || shown.some(each => shows(each, last))) return null;
    return violatedIfComplete('the latest content of a view was not shown', last.callback);
  });
  const changed = shown.map(each => {
    if (updates.some(update => shows(each, update)) || others.some(other => mayShow(each, other)))
      return null;
    const sources = accepted.filter(({ message }) => message.view_type === each.message.view_type);
    const proof = [...sources.map(({ callback }) => callback), each];
    return violated('a view was shown with content that the tool did not send', proof);
  });
  return [missing, changed];
}

/** Whether a view was shown after an update, with its content. */
function shows(
  { event, message }: ObservationMessage<'view'>,
  { callback, message: sentView }: View,
): boolean {
  return (
    event.seq > callback.request.seq &&
    message.view_type === sentView.view_type &&
    isDeepStrictEqual(message.content ?? {}, sentView.content)
  );
}

/** Whether a view may show a message that is no valid view of the thread: by its type or its content. */
function mayShow({ event, message }: ObservationMessage<'view'>, { request }: CallbackEvidence): boolean {
  const sent = request.body?.json.ok ? request.body.json.value : null;
  return (
    event.seq > request.seq &&
    (valueAt(sent, 'view_type') === message.view_type ||
      isDeepStrictEqual(valueAt(sent, 'content'), message.content))
  );
}

/** Shorter texts may occur in a result too. */
const MIN_VIEW_TEXT = 12;

function judgeViewTexts(updates: readonly View[], driver: DriverEvidence): Observed {
  return updates.map(({ callback, message }) => {
    const texts = stringsIn(message.content).filter(({ length }) => length >= MIN_VIEW_TEXT);
    const line = texts.map(text => driver.textForModel(text)).find(each => each !== undefined);
    return line ? violated('the content of a view reached the model', [callback, line]) : null;
  });
}
