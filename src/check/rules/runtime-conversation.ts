import { isBodyLost, type RoundTrip } from '../../events/round-trips.js';
import { isQuestion } from '../../protocol/callbacks.js';
import { choiceResponseSchema } from '../../protocol/invocation.js';
import { validate } from '../../protocol/validate.js';
import { bareUrl, tokenlessUrl } from '../../util/url.js';
import type { Received } from '../call.js';
import { broken, defineRules, held, lacking, type Observation, sent, unseen } from '../rule.js';

/** Questions, subscriptions and views. */
export const runtimeConversationRules = defineRules({
  'RT-PENDING': {
    level: 'MUST',
    statement: 'keeps the call pending during oauth and user_choice, and does not send it again',
    advice:
      'Keep the call pending after oauth or user_choice, and wait: the tool continues without a new invocation.',
    absent: 'no tool asked the user anything',
    observe: ({ calls }) =>
      calls.map(({ received, attempts }) => {
        const question = received.find(({ message }) => isQuestion(message));
        if (!question) return null;
        const { response, request } = question.callback;
        const again = attempts.find(each => each.request.at > (response ?? request).at);
        return again
          ? broken('the invocation was sent again after the question', [question.callback, again])
          : held(question.callback);
      }),
  },
  'RT-OAUTH': {
    level: 'MUST',
    statement: 'shows the auth_url to the user, and never stores or logs it',
    advice: 'Show auth_url to the user, and remove its query from all logs and files.',
    absent: 'not a transcript of a runtime with an oauth message',
    observe: ({ calls, observer }) => {
      const questions = observer === 'runtime' ? calls.flatMap(call => call.messages('oauth')) : [];
      return questions.map(({ callback, message: { auth_url } }) =>
        auth_url === bareUrl(auth_url)
          ? held(callback)
          : broken('the transcript keeps the query of the auth_url', callback),
      );
    },
  },
  'RT-CHOICE': {
    level: 'MUST',
    statement: 'POSTs the selection to response_url; a dismissed prompt sends default',
    advice: 'POST {id, selected} to response_url; selected counts from 0. If dismissed, send default.',
    absent: 'no tool offered a choice',
    observe: ({ calls }) =>
      calls.map(call => {
        const { selections, cancels, expiries } = call;
        const questions = call.messages('user_choice');
        const [first] = questions;
        if (!first) return null;
        if (selections.length > 0) return selections.map(each => onSelection(each, questions));
        if (cancels.length > 0) return null;
        return expiries.some(({ what }) => what === 'timeout')
          ? lacking('was never answered, not even with the default', first.callback)
          : unseen('no selection was seen', first.callback);
      }),
  },
  'RT-SUB': {
    level: 'MUST',
    statement: 'tracks subscriptions per thread, discards events of unknown or canceled ones, stops at final',
    advice:
      'Track subscriptions by thread and call, accept their events, and remove them at final or a cancel.',
    absent: 'no event of an open subscription came',
    observe: ({ calls }) =>
      calls
        .flatMap(call => call.messages('subscription_event'))
        .map(({ callback }) => {
          const { isRefused, status, verdict } = callback;
          if (verdict?.kind === 'discarded') return isRefused ? held(callback, 'others are discarded') : null;
          if (status === null || verdict?.kind !== 'noted') return null;
          return isRefused
            ? lacking(`an event of an open subscription was answered ${status}`, callback)
            : held(callback);
        }),
  },
  'RT-VIEW': {
    level: 'MUST',
    statement: 'keeps the latest view per thread and type; ignores unknown view types',
    advice: 'Answer every view_update with 200; keep the latest of each type, and ignore unknown types.',
    absent: 'no view came',
    observe: ({ calls }) =>
      calls
        .flatMap(call => call.messages('view_update'))
        .map(({ callback }) => {
          const { isRefused, status, verdict } = callback;
          if (status === null || (verdict?.kind !== 'noted' && verdict?.kind !== 'ignored')) return null;
          return isRefused ? broken(`a view was answered ${status}`, callback) : held(callback);
        }),
  },
});

function onSelection(selection: RoundTrip, questions: readonly Received<'user_choice'>[]): Observation {
  const { request, sentJson } = selection;
  if (isBodyLost(request)) return unseen('the body of a selection was not recorded', selection);
  const read = validate(choiceResponseSchema, sentJson);
  if (request.method !== 'POST' || !read.ok) return broken('the selection is not {id, selected}', selection);
  const { id, selected } = read.value;
  // A tool sees only the path of the URL, and a transcript has no token in it.
  const isOf = (url: string) => tokenlessUrl(url).endsWith(tokenlessUrl(request.url));
  const question = questions.find(({ message }) => message.id === id && isOf(message.response_url))?.message;
  if (!question)
    return lacking('the selection was sent to another URL, or has the id of another call', selection);
  if (selected < question.choices.length) return held(selection);
  return broken('the selection is not one of the choices', selection, {
    expected: `0 to ${question.choices.length - 1}`,
    actual: String(selected),
    spots: [sent(selection, 'selected')],
  });
}
