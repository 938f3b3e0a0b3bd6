import type { UserChoice } from '../../protocol/callbacks.js';
import { choiceResponseSchema } from '../../protocol/toolset.js';
import { validate } from '../../protocol/validate.js';
import { bareUrl, tokenlessUrl } from '../../util/url.js';
import { type CallEvidence, isBodyLost, type RoundTrip } from '../call.js';
import {
  broken,
  defineRules,
  doubtful,
  held,
  lacking,
  type Observation,
  resultPage,
  scant,
  sent,
  unseen,
} from '../rule.js';

/** How a runtime handles callbacks. */
export const runtimeCallbackRules = defineRules({
  'RT-VALIDATE': {
    level: 'MUST',
    statement: 'validates every callback against its schema; answers an invalid one with 4xx and ignores it',
    advice: 'Validate a callback before you use it, and answer an invalid one with 400.',
    absent: 'no callback came',
    observe: ({ calls, strays }) => {
      const callbacks = [...calls.flatMap(call => call.callbacks), ...strays];
      const observed = callbacks.flatMap(callback => {
        const { reading, status } = callback;
        if (!reading || reading.ok || status === null) return [];
        if (callback.isRefused) return [held(callback)];
        const what = `a callback that does not match its schema was answered ${status}: ${reading.faults[0]}`;
        return [broken(what, callback, { expected: '4xx', actual: String(status) })];
      });
      const isNothing = observed.length > 0 || callbacks.length === 0;
      return isNothing ? observed : [scant('every callback matched its schema', [])];
    },
  },
  'RT-MATCH': {
    level: 'MUST',
    statement: 'logs and discards a result that matches no pending call',
    advice:
      'Compare group_id and id with the pending calls; answer 404 if none matches, and do not inform the model.',
    source: resultPage('It MUST NOT inject unmatched results into any conversation.'),
    absent: 'no result came with ids that match no pending call',
    observe: ({ calls }) => calls.flatMap(onUnmatched),
  },
  'RT-SANITIZE': {
    level: 'SHOULD',
    statement: 'validates text before it passes it to the model',
    advice: 'Check text for control characters and invisible characters before you pass it to the model.',
    source: resultPage(
      'Runtimes SHOULD also validate the text content before passing it to the LLM — while the LLM is generally resilient to unexpected input, sanitization reduces the risk of prompt injection through tool results.',
    ),
    unobservable: 'not visible in HTTP traffic: it happens before the text goes to the model',
  },
  'RT-DUP': {
    level: 'SHOULD',
    statement: 'processes a duplicate delivery once and answers it with 200',
    advice: 'Remember which results were processed, and answer duplicates with 200.',
    source: resultPage(
      'Runtimes SHOULD implement idempotent result processing to handle duplicate deliveries gracefully, since network retries may cause the same result to arrive more than once.',
    ),
    absent: 'no delivery came twice',
    observe: ({ calls }) => calls.flatMap(onDuplicates),
  },
  'RT-TEXT': {
    level: 'MUST',
    statement: 'gives the model text or content in full and unchanged, independent of display_as',
    advice: 'Give the model text or content unchanged; display_as is only for people.',
    source: resultPage(
      "When display_as is present, the runtime MUST still pass the full text value to the LLM as the tool's response.",
    ),
    unobservable: 'not visible in HTTP traffic: it concerns what the model gets',
  },
  'RT-DISPLAY': {
    level: 'SHOULD',
    statement: 'shows the user the first supported display segment, else text',
    advice: 'Show the first segment of display_as that you support, else text.',
    source: resultPage(
      'Runtimes SHOULD iterate the display_as array and render the first segment whose type they support.',
    ),
    unobservable: 'not visible in HTTP traffic: it concerns what the user sees',
  },
  'RT-PENDING': {
    level: 'MUST',
    statement: 'keeps the call pending during oauth and user_choice, and does not send it again',
    advice:
      'Keep the call pending after oauth or user_choice, and wait: the tool continues without a new invocation.',
    absent: 'no tool asked the user anything',
    observe: ({ calls }) =>
      calls.flatMap(({ received, attempts }) => {
        const question = received.find(({ message: { type } }) => type === 'oauth' || type === 'user_choice');
        if (!question) return [];
        const { response, request } = question.callback;
        const again = attempts.find(each => each.request.at > (response ?? request).at);
        return again
          ? [broken('the invocation was sent again after the question', [question.callback, again])]
          : [held(question.callback)];
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
      calls.flatMap(call => {
        const questions = call.messages('user_choice');
        const [first] = questions;
        if (!first) return [];
        const choices = questions.map(({ message }) => message);
        if (call.selections.length > 0) return call.selections.map(each => onSelection(each, choices));
        if (call.cancels.length > 0) return [];
        return call.expiries.some(({ what }) => what === 'timeout')
          ? [lacking('was never answered, not even with the default', first.callback)]
          : [unseen('no selection was seen', first.callback)];
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
        .flatMap(({ callback }) => {
          const { isRefused, status, verdict } = callback;
          if (verdict?.kind === 'discarded') return isRefused ? [held(callback, 'others are discarded')] : [];
          if (status === null || verdict?.kind !== 'noted') return [];
          return isRefused
            ? [lacking(`an event of an open subscription was answered ${status}`, callback)]
            : [held(callback)];
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
        .flatMap(({ callback }) => {
          const { isRefused, status, verdict } = callback;
          if (status === null || (verdict?.kind !== 'noted' && verdict?.kind !== 'ignored')) return [];
          return isRefused ? [broken(`a view was answered ${status}`, callback)] : [held(callback)];
        }),
  },
  'RT-SERIAL': {
    level: 'MUST',
    statement: 'handles messages of one thread in order, and threads in parallel',
    advice: 'Queue the messages of a thread, and handle them one after another.',
    unobservable: 'not visible in HTTP traffic: it concerns work after the answer',
  },
});

/** A forged result that was answered 2xx may have been discarded, unless it took the place of the real one. */
function onUnmatched({ callbacks }: CallEvidence): readonly Observation[] {
  const unmatched = callbacks.filter(
    ({ verdict, response, message }) =>
      verdict?.kind === 'discarded' && response !== null && message?.type !== 'subscription_event',
  );
  const real = callbacks.find(({ verdict, isRefused }) => verdict?.kind === 'settles' && isRefused);
  return unmatched.map(forged => {
    if (forged.isRefused) return held(forged);
    return real
      ? broken("was accepted as the call's result, and the real result was then refused", [forged, real])
      : doubtful('was accepted; the transcript does not show whether it was discarded', forged);
  });
}

/** A callback that was not accepted has no duplicates. */
function onDuplicates({ callbacks }: CallEvidence): readonly Observation[] {
  const accepted = new Set<string | null>();
  return callbacks.flatMap(callback => {
    const { fingerprint, status, verdict } = callback;
    const isRepeated =
      accepted.has(fingerprint) && verdict?.kind === 'duplicate' && verdict.identical && status !== null;
    if (status !== null && status >= 200 && status < 300) accepted.add(fingerprint);
    if (!isRepeated) return [];
    if (status === 200) return [held(callback)];
    const what = `a delivery that came again was answered ${status}`;
    return [broken(what, callback, { expected: '200', actual: String(status) })];
  });
}

function onSelection(selection: RoundTrip, questions: readonly UserChoice[]): Observation {
  const { request, sentJson } = selection;
  if (isBodyLost(request)) return unseen('the body of a selection was not recorded', selection);
  const read = validate(choiceResponseSchema, sentJson);
  if (request.method !== 'POST' || !read.ok) return broken('the selection is not {id, selected}', selection);
  const { id, selected } = read.value;
  // A tool sees only the path of the URL, and a transcript has no token in it.
  const question = questions.find(
    each => each.id === id && tokenlessUrl(each.response_url).endsWith(tokenlessUrl(request.url)),
  );
  if (!question)
    return lacking('the selection was sent to another URL, or has the id of another call', selection);
  if (selected < question.choices.length) return held(selection);
  return broken('the selection is not one of the choices', selection, {
    expected: `0 to ${question.choices.length - 1}`,
    actual: String(selected),
    spots: [sent(selection, 'selected')],
  });
}
