import { isDeepStrictEqual } from 'node:util';
import { isBodyLost, type RoundTrip } from '../../events/round-trips.js';
import { isQuestion } from '../../protocol/callbacks.js';
import { choiceResponseSchema } from '../../protocol/invocation.js';
import { llmText } from '../../protocol/outcome.js';
import { validate } from '../../protocol/validate.js';
import { groupBy } from '../../util/collections.js';
import { tokenlessUrl, urlWithoutQuery } from '../../util/url.js';
import { stringsIn, valueAt } from '../../util/values.js';
import type { CallEvidence } from '../call.js';
import type { CallbackEvidence, ReceivedCallback } from '../callback-evidence.js';
import { messagesOf } from '../recorded-call.js';
import {
  defineRules,
  met,
  type Observation,
  type Observed,
  requestSpot,
  unrecorded,
  violated,
  violatedIfComplete,
} from '../rule.js';
import { faultLine } from '../rule-details.js';
import type { InstructionMessage, ObservationMessage, RuntimeView } from '../runtime-view.js';

/** Questions, subscriptions and views. */
export const runtimeConversationRules = defineRules({
  'RT-PENDING': {
    level: 'MUST',
    statement: 'keeps the call pending during oauth and user_choice, and does not send it again',
    advice:
      'Keep the call pending after oauth or user_choice, and wait: the tool continues without a new invocation.',
    masks: ['RT-TEXT', 'RT-DISPLAY', 'RT-NOTIFY', 'RT-ACK'],
    absent: 'no tool asked the user anything',
    observe: ({ calls, view }) =>
      calls.map(call => [onRepeatedCall(call), view && onPendingCall(call, view)]),
  },
  'RT-OAUTH': {
    level: 'MUST',
    statement: 'shows the auth_url to the user, and never stores or logs it',
    advice: 'Show auth_url to the user, and remove its query from all logs and files.',
    masks: ['RT-PENDING', 'RT-TEXT', 'RT-ACK'],
    needs: ['consent'],
    absent: 'not a transcript of a runtime with an oauth message',
    observe: ({ calls, observer, view }) => {
      if (view) return [calls.map(call => onConsent(call, view)), leaksIn(view)];
      const questions = observer === 'runtime' ? calls.flatMap(call => messagesOf(call, 'oauth')) : [];
      return questions.map(({ callback, message: { auth_url } }) =>
        auth_url === urlWithoutQuery(auth_url)
          ? met(callback)
          : violated('the transcript keeps the query of the auth_url', callback),
      );
    },
  },
  'RT-CHOICE': {
    level: 'MUST',
    statement: 'POSTs the selection to response_url; a dismissed prompt sends default',
    advice: 'POST {id, selected} to response_url; selected counts from 0. If dismissed, send default.',
    masks: ['RT-ACK'],
    needs: ['question', 'answer'],
    absent: 'no tool offered a choice',
    observe: ({ calls, view }) => {
      const onAnswers = view ? answersIn(calls, view) : null;
      return calls.map(call => {
        const { selections, cancels, expiries } = call;
        const questions = messagesOf(call, 'user_choice');
        const [first] = questions;
        if (!first) return null;
        const sentSelections = selections.map(each => onSelection(each, questions));
        if (view && onAnswers)
          return [sentSelections, onAnswers(call), questions.map(each => onPrompt(each, call, view))];
        if (selections.length > 0) return sentSelections;
        if (cancels.length > 0) return null;
        return expiries.some(({ what }) => what === 'timeout')
          ? violatedIfComplete('was never answered, not even with the default', first.callback)
          : unrecorded('no selection was seen', first.callback);
      });
    },
  },
  'RT-SUB': {
    level: 'MUST',
    statement: 'tracks subscriptions per thread, discards events of unknown or canceled ones, stops at final',
    advice:
      'Track subscriptions by thread and call, accept their events, and remove them at final or a cancel.',
    needs: ['model'],
    absent: 'no event of an open subscription came',
    observe: ({ calls, view }) =>
      calls.map(call => {
        const overSince = view?.mayIgnoreFromSeqOf(call) ?? Number.POSITIVE_INFINITY;
        return messagesOf(call, 'subscription_event').map(event => onEvent(event, view, overSince));
      }),
  },
  'RT-VIEW': {
    level: 'MUST',
    statement: 'keeps the latest view per thread and type, and passes it on unchanged, whatever its type',
    advice:
      'Answer every view_update with 200, and pass on the latest of each type; only a client may ignore a type.',
    needs: ['view'],
    absent: 'no view came',
    observe: ({ calls, unmatchedCallbacks, view }) => {
      const updates = calls.flatMap(call => messagesOf(call, 'view_update')).filter(isView);
      const answers = updates.map(({ callback }) => {
        const { isRefused, status } = callback;
        if (status === null) return null;
        return isRefused ? violated(`a view was answered ${status}`, callback) : met(callback);
      });
      if (!view) return answers;
      const others = [...calls.flatMap(call => call.callbacks), ...unmatchedCallbacks].filter(
        callback => callback.typeName === 'view_update' && !updates.some(each => each.callback === callback),
      );
      return [answers, onShownViews(updates, others, view), onViewTexts(updates, view)];
    },
  },
});

type View = ReceivedCallback<'view_update'>;

/** The first line with which the model got this text, after an event. */
function givenText(text: string, view: RuntimeView, after = 0): ObservationMessage | undefined {
  return view.observationsShowing([text], 'model', 'failure').find(({ event }) => event.seq > after);
}

function onRepeatedCall({ received, attempts }: CallEvidence): Observed {
  const question = received.find(({ message }) => isQuestion(message));
  if (!question) return null;
  const { response, request } = question.callback;
  const again = attempts.find(each => each.request.at > (response ?? request).at);
  return again
    ? violated('the invocation was sent again after the question', [question.callback, again])
    : met(question.callback);
}

/** The model must get nothing of the call between the question and the result. */
function onPendingCall(call: CallEvidence, view: RuntimeView): Observed {
  const question = call.received.find(({ message }) => isQuestion(message))?.callback;
  if (!question) return null;
  const result = messagesOf(call, 'tool_result').find(
    ({ callback }) => callback.request.seq > question.lastSeq && callback.verdict?.kind === 'settles',
  );
  const resultAt = result?.callback.request.seq ?? Number.POSITIVE_INFINITY;
  const early = view
    .observationsOf(call, 'model', 'failure')
    .find(
      ({ event: { seq } }) => seq > question.request.seq && seq < Math.min(resultAt, view.mayIgnoreFromSeq),
    );
  if (early) return violated('the model got something of a call that waited for the user', [question, early]);
  if (!result || result.callback.lastSeq > view.mayIgnoreFromSeq) return null; // it may have ended before
  const { callback, message } = result;
  const proof = [question, callback];
  if (callback.isRefused)
    return violatedIfComplete(`the result after a question was answered ${callback.status}`, proof);
  const isLost = view.supports('model') && !givenText(llmText(message), view, resultAt);
  return isLost
    ? violatedIfComplete('the result after a question did not reach the model', proof)
    : met(proof);
}

function onConsent(call: CallEvidence, view: RuntimeView): Observed {
  const shown = view.possibleObservationsOf(call, 'consent');
  return messagesOf(call, 'oauth').map(({ callback }) => {
    if (callback.isRefused) return violated(`an oauth message was answered ${callback.status}`, callback);
    if (callback.verdict?.kind !== 'holds') return null;
    return shown.length > 0
      ? met([callback, ...shown])
      : violatedIfComplete('the user was not asked to visit the auth_url', callback);
  });
}

const LEAKS = {
  model: 'a secret of the auth_url reached the model',
  failure: 'a secret of the auth_url is in a failed result for the model',
  log: "a secret of the auth_url is in the runtime's log",
};

function leaksIn(view: RuntimeView): Observed {
  return view.findings('leak').map(leak => {
    const { where, text } = leak.message;
    return violated(LEAKS[where], leak, { faults: [faultLine(text)] });
  });
}

/** Assigns each answer of the user to a question: the oldest open one. */
function answersIn(calls: readonly CallEvidence[], view: RuntimeView): (call: CallEvidence) => Observed {
  const open = calls
    .flatMap(call => messagesOf(call, 'user_choice').map(question => ({ call, question })))
    .filter(({ question: { callback } }) => callback.verdict?.kind === 'holds' && !callback.isRefused)
    .toSorted((one, other) => one.question.callback.request.seq - other.question.callback.request.seq);
  const answers = [...view.instructions('answer'), ...view.instructions('dismiss')]
    .toSorted((one, other) => one.event.seq - other.event.seq)
    .flatMap(line => {
      const { event } = line;
      const index = open.findIndex(
        ({ call, question }) => question.callback.request.seq < event.seq && isWaiting(call, event.seq),
      );
      const [asked] = index < 0 ? [] : open.splice(index, 1);
      return asked ? { ...asked, line } : [];
    });
  return call => {
    const own = answers.filter(each => each.call === call);
    const early = call.selections.find(
      ({ request }) => request.seq < (own[0]?.line.event.seq ?? Number.POSITIVE_INFINITY),
    );
    return early ? violated('a selection was sent before the user answered', early) : own.map(onAnswer);
  };
}

function isWaiting(call: CallEvidence, at: number): boolean {
  return call.canceledAtSeq > at && !call.results.some(({ request }) => request.seq < at);
}

function onSelection(
  selection: RoundTrip,
  questions: readonly ReceivedCallback<'user_choice'>[],
): Observation {
  const { request, sentJson } = selection;
  if (isBodyLost(request)) return unrecorded('the body of a selection was not recorded', selection);
  const read = validate(choiceResponseSchema, sentJson);
  if (request.method !== 'POST' || !read.ok)
    return violated('the selection is not {id, selected}', selection);
  const { id, selected } = read.value;
  // A tool sees only the path of the URL, and a transcript has neither the token nor the query.
  const isSentTo = (url: string) =>
    tokenlessUrl(url).endsWith(tokenlessUrl(request.url)) && queryOf(url) === queryOf(request.url);
  const question = questions.find(
    ({ message }) => message.id === id && isSentTo(message.response_url),
  )?.message;
  if (!question)
    return violatedIfComplete(
      'the selection was sent to another URL, or has the id of another call',
      selection,
    );
  if (selected < question.choices.length) return met(selection);
  return violated('the selection is not one of the choices', selection, {
    expected: `0 to ${question.choices.length - 1}`,
    actual: String(selected),
    spots: [requestSpot(selection, 'selected')],
  });
}

function queryOf(url: string): string {
  return url.replace(/^[^?]*/, '');
}

interface Answer {
  readonly call: CallEvidence;
  readonly question: ReceivedCallback<'user_choice'>;
  readonly line: InstructionMessage<'answer' | 'dismiss'>;
}

function onAnswer({ call, question: { callback, message }, line }: Answer): Observation {
  const choice = 'choice' in line.message ? line.message.choice : null; // null: the user dismissed the question
  const index = typeof choice === 'string' ? message.choices.indexOf(choice) : choice;
  const expected = index ?? message.default;
  const selections = call.selections.filter(({ request }) => request.seq > line.event.seq);
  const did = choice === null ? 'dismissed the question' : 'answered';
  if (selections.every(({ status }) => status === 404))
    return violatedIfComplete(`the user ${did}, and no selection came to response_url`, [callback, line]);
  const accepted = selections.findIndex(({ status }) => status === 200);
  if (accepted >= 0 && accepted < selections.length - 1)
    return violated('a selection that was answered 200 was sent again', selections);
  const other = selections.find(each => ![null, expected].includes(selectedIn(each)));
  if (!other) return met([line, ...selections]);
  const what = choice === null ? 'the selection is not default' : 'the selection is not what the user chose';
  const actual = String(selectedIn(other));
  const details = { expected: String(expected), actual, spots: [requestSpot(other, 'selected')] };
  return violated(what, [callback, line, other], details);
}

function selectedIn({ sentJson }: RoundTrip): number | null {
  const read = validate(choiceResponseSchema, sentJson);
  return read.ok ? read.value.selected : null;
}

/** Control characters and invisible characters: a runtime may replace them. */
const MAY_BE_REPLACED = /[\p{Cc}\p{Cf}]/u;

function onPrompt(
  { callback, message: { prompt, choices } }: ReceivedCallback<'user_choice'>,
  call: CallEvidence,
  view: RuntimeView,
): Observed {
  if (callback.verdict?.kind === 'duplicate') return null; // RT-DUP
  if (callback.isRefused) return violated(`a question was answered ${callback.status}`, callback);
  if (callback.verdict?.kind !== 'holds') return null;
  const shown = view.possibleObservationsOf(call, 'question');
  if (shown.length === 0) return violatedIfComplete('a question was not shown to the user', callback);
  const isPlain = ![prompt, ...choices].some(text => MAY_BE_REPLACED.test(text));
  const isShown = shown.some(({ message }) =>
    isPlain
      ? isDeepStrictEqual([message.prompt, message.choices], [prompt, choices])
      : message.choices.length === choices.length,
  );
  const proof = [callback, ...shown];
  return isShown ? met(proof) : violated('a question was shown with another text or other choices', proof);
}

/** @param overSince the `seq` from which on the runtime may ignore events of the call */
function onEvent(
  event: ReceivedCallback<'subscription_event'>,
  view: RuntimeView | null,
  overSince: number,
): Observed {
  const { callback, message } = event;
  const { isRefused, status, verdict, lastSeq } = callback;
  if (verdict?.kind === 'discarded') return onForeignEvent(event, view, verdict.reason);
  if (verdict?.kind === 'late') return onForeignEvent(event, view, 'the subscription was canceled');
  if (status === null || verdict?.kind !== 'noted' || lastSeq > overSince) return null;
  if (isRefused)
    return violatedIfComplete(`an event of an open subscription was answered ${status}`, callback);
  return view && !givenText(message.text, view)
    ? violatedIfComplete('an event of an open subscription did not reach the model', callback)
    : met(callback);
}

/** The protocol leaves the answer to an unexpected event open; the model must not get it. */
function onForeignEvent(
  { callback, message }: ReceivedCallback<'subscription_event'>,
  view: RuntimeView | null,
  reason: string,
): Observed {
  const line = view ? givenText(message.text, view) : undefined;
  if (line) return violated(`an event reached the model, but ${reason}`, [callback, line]);
  return callback.isRefused || view ? met(callback, 'others are discarded') : null;
}

function isView({ callback: { verdict } }: View): boolean {
  return verdict?.kind === 'noted' || verdict?.kind === 'ignored';
}

/**
 * The runtime must show the latest content of each view, and only content that the tool sent.
 * @param others views that the runtime must not show (RT-VALIDATE, RT-MATCH)
 */
function onShownViews(
  updates: readonly View[],
  others: readonly CallbackEvidence[],
  view: RuntimeView,
): Observed {
  const accepted = updates.filter(({ callback }) => callback.response && !callback.isRefused);
  const shown = view.observations('view');
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

function onViewTexts(updates: readonly View[], view: RuntimeView): Observed {
  return updates.map(({ callback, message }) => {
    const texts = stringsIn(message.content).filter(({ length }) => length >= MIN_VIEW_TEXT);
    const line = texts.map(text => givenText(text, view)).find(each => each !== undefined);
    return line ? violated('the content of a view reached the model', [callback, line]) : null;
  });
}
