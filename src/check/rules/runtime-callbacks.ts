import type { UserChoice } from '../../protocol/callbacks.js';
import { choiceResponseSchema } from '../../protocol/toolset.js';
import { validate } from '../../protocol/validate.js';
import { bareUrl, tokenlessUrl } from '../../util/redact.js';
import {
  type CallbackEvidence,
  type CallEvidence,
  type Evidence,
  isRefused,
  type Leg,
  sayingOf,
  statusOf,
} from '../evidence.js';
import { isBodyLost } from '../evidence-queries.js';
import { broken, doubtful, held, lacking, type Observation, type Rule, sent, unseen } from '../judge.js';

/** RT-CHOICE: the selection is POSTed to the question's `response_url`, as one of its choices. */
export const postsSelections: Rule = {
  id: 'RT-CHOICE',
  absent: 'no tool offered a choice',
  observe: ({ calls }: Evidence) => calls.flatMap(onCall),
};

function onCall({ callbacks, selections, expiries, cancels }: CallEvidence): Observation[] {
  const asked = callbacks.flatMap(callback =>
    callback.reading?.ok && callback.reading.message.type === 'user_choice'
      ? [{ callback, question: callback.reading.message }]
      : [],
  );
  const [first] = asked;
  if (!first) return [];
  const questions = asked.map(({ question }) => question);
  if (selections.length > 0) return selections.map(selection => onSelection(selection, questions));
  if (cancels.length > 0) return [];
  if (expiries.some(({ what }) => what === 'timeout'))
    return [lacking('was never answered, not even with the default', [first.callback])];
  return [unseen('no selection was seen', [first.callback])];
}

function onSelection(selection: Leg, questions: readonly UserChoice[]): Observation {
  const { url, body, method } = selection.request;
  if (isBodyLost(selection.request)) return unseen('the body of a selection was not recorded', [selection]);
  const read = validate(choiceResponseSchema, body?.json.ok ? body.json.value : undefined);
  if (method !== 'POST' || !read.ok) return broken('the selection is not {id, selected}', [selection]);
  const { id, selected } = read.value;
  const question = questions.find(each => each.id === id && leadsTo(each, url));
  if (!question)
    return lacking('the selection was sent to another URL, or has the id of another call', [selection]);
  if (selected < question.choices.length) return held([selection]);
  const expected = `0 to ${question.choices.length - 1}`;
  return broken('the selection is not one of the choices', [selection], {
    expected,
    actual: String(selected),
    spots: [sent(selection, 'selected')],
  });
}

/** A tool sees no more than the path; a transcript tells it without its token. */
function leadsTo({ response_url }: UserChoice, url: string): boolean {
  return tokenlessUrl(response_url).endsWith(tokenlessUrl(url));
}

/** RT-DUP: a delivery that comes again is answered 200. */
export const acceptsDuplicates: Rule = {
  id: 'RT-DUP',
  absent: 'no delivery came twice',
  observe: ({ calls }: Evidence) => calls.flatMap(duplicateOnCall),
};

/** A callback that was not accepted has no duplicates. */
function duplicateOnCall({ callbacks }: CallEvidence): Observation[] {
  const taken = new Set<string | null>();
  return callbacks.flatMap(callback => {
    const observed = taken.has(sayingOf(callback)) ? onDuplicate(callback) : [];
    if (isTaken(callback)) taken.add(sayingOf(callback));
    return observed;
  });
}

function isTaken(callback: CallbackEvidence): boolean {
  const status = statusOf(callback) ?? 0;
  return status >= 200 && status < 300;
}

function onDuplicate(callback: CallbackEvidence): Observation[] {
  const status = statusOf(callback);
  if (callback.verdict?.kind !== 'duplicate' || !callback.verdict.identical || status === null) return [];
  if (status === 200) return [held([callback])];
  const what = `a delivery that came again was answered ${status}`;
  return [broken(what, [callback], { expected: '200', actual: String(status) })];
}

/** RT-MATCH: a result with ids that are no pending call's does nothing. Answered 2xx, what became of it cannot be seen: unless it took the call's place. */
export const matchesResults: Rule = {
  id: 'RT-MATCH',
  absent: 'no result came with ids that match no pending call',
  observe: ({ calls }: Evidence) => calls.flatMap(matchOnCall),
};

function matchOnCall({ callbacks }: CallEvidence): Observation[] {
  return callbacks.filter(isForAnother).map(forged => {
    if (isRefused(forged)) return held([forged]);
    const real = callbacks.find(each => each.verdict?.kind === 'settles' && isRefused(each));
    if (real)
      return broken("was accepted as the call's result, and the real result was then refused", [
        forged,
        real,
      ]);
    return doubtful('was accepted; the transcript does not show whether it was discarded', [forged]);
  });
}

function isForAnother({ verdict, reading, response }: CallbackEvidence): boolean {
  const type = reading?.ok ? reading.message.type : null;
  return verdict?.kind === 'discarded' && response !== null && type !== 'subscription_event';
}

/** RT-OAUTH: of a consent's URL a runtime's transcript keeps no more than where it leads. */
export const keepsNoConsentUrl: Rule = {
  id: 'RT-OAUTH',
  absent: 'not a transcript of a runtime with an oauth message',
  observe: ({ calls, observer }: Evidence) =>
    observer === 'runtime' ? calls.flatMap(({ callbacks }) => callbacks.flatMap(onCallback)) : [],
};

function onCallback(callback: CallbackEvidence): Observation[] {
  const { reading } = callback;
  if (!reading?.ok || reading.message.type !== 'oauth') return [];
  const { auth_url } = reading.message;
  return [
    auth_url === bareUrl(auth_url)
      ? held([callback])
      : broken('the transcript keeps the query of the auth_url', [callback]),
  ];
}

/** RT-PENDING: while a person is asked the call is pending, and is not sent again. */
export const keepsAsking: Rule = {
  id: 'RT-PENDING',
  absent: 'no tool asked the user anything',
  observe: ({ calls }: Evidence) => calls.flatMap(pendingOnCall),
};

function pendingOnCall({ callbacks, attempts }: CallEvidence): Observation[] {
  const question = callbacks.find(isQuestion);
  if (!question) return [];
  const again = attempts.find(({ request }) => request.at > (question.response?.at ?? question.request.at));
  return [
    again ? broken('the invocation was sent again after the question', [question, again]) : held([question]),
  ];
}

function isQuestion({ reading }: CallbackEvidence): boolean {
  return reading?.ok === true && (reading.message.type === 'oauth' || reading.message.type === 'user_choice');
}

/** RT-SUB: the events of a subscription that is open are taken. What becomes of others cannot be seen. */
export const tracksSubscriptions: Rule = {
  id: 'RT-SUB',
  absent: 'no event of an open subscription came',
  observe: ({ calls }: Evidence) =>
    calls.flatMap(({ callbacks }) => callbacks.flatMap(subscriptionOnCallback)),
};

function subscriptionOnCallback(callback: CallbackEvidence): Observation[] {
  const { reading, verdict } = callback;
  if (!reading?.ok || reading.message.type !== 'subscription_event') return [];
  if (verdict?.kind === 'discarded')
    return isRefused(callback) ? [held([callback], 'others are discarded')] : [];
  const status = statusOf(callback);
  if (status === null || verdict?.kind !== 'noted') return [];
  return [
    isRefused(callback)
      ? lacking(`an event of an open subscription was answered ${status}`, [callback])
      : held([callback]),
  ];
}

/** RT-VALIDATE: a callback that breaks the schema of its type is answered 4xx. */
export const validatesCallbacks: Rule = {
  id: 'RT-VALIDATE',
  absent: 'every callback matched its schema',
  observe: ({ calls, strays }: Evidence) =>
    [...calls.flatMap(({ callbacks }) => callbacks), ...strays].flatMap(validateOnCallback),
};

function validateOnCallback(callback: CallbackEvidence): Observation[] {
  const { reading } = callback;
  const status = statusOf(callback);
  if (!reading || reading.ok || status === null) return [];
  if (isRefused(callback)) return [held([callback])];
  const what = `a callback that does not match its schema was answered ${status}: ${reading.faults[0]}`;
  return [broken(what, [callback], { expected: '4xx', actual: String(status) })];
}

/** RT-VIEW: a view is taken, and one of an unknown type ignored: neither is refused. */
export const takesViews: Rule = {
  id: 'RT-VIEW',
  absent: 'no view came',
  observe: ({ calls }: Evidence) => calls.flatMap(({ callbacks }) => callbacks.flatMap(viewOnCallback)),
};

function viewOnCallback(callback: CallbackEvidence): Observation[] {
  const { reading, verdict } = callback;
  const status = statusOf(callback);
  if (!reading?.ok || reading.message.type !== 'view_update' || status === null) return [];
  if (verdict?.kind !== 'noted' && verdict?.kind !== 'ignored') return [];
  return [isRefused(callback) ? broken(`a view was answered ${status}`, [callback]) : held([callback])];
}
