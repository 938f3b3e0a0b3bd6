import { isDeepStrictEqual } from 'node:util';
import { isBodyLost, type RoundTrip } from '../../events/round-trips.js';
import { choiceResponseSchema } from '../../protocol/invocation.js';
import { validate } from '../../protocol/validate.js';
import { tokenlessUrl } from '../../util/url.js';
import type { CallEvidence } from '../call.js';
import type { CallbackEvidence, ReceivedCallback } from '../callback-evidence.js';
import type { DriverEvidence, InstructionMessage } from '../driver-evidence.js';
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
import { wrongRefusalDetails } from '../rule-details.js';

/** How a runtime lets the user choose. */
export const runtimeChoiceRules = defineRules({
  'RT-CHOICE': {
    level: 'MUST',
    statement: 'POSTs the selection to response_url; a dismissed prompt sends default',
    advice: 'POST {id, selected} to response_url; selected counts from 0. If dismissed, send default.',
    masks: ['RT-ACK'],
    needs: ['question', 'answer'],
    absent: 'no tool offered a choice',
    observe: ({ calls, driver }) => {
      const answers = driver ? answersIn(calls, driver) : [];
      return calls.map(call => {
        const questions = messagesOf(call, 'user_choice');
        const [first] = questions;
        if (!first) return null;
        const sent = call.selections.map(each => judgeSelection(each, questions));
        if (driver) {
          const own = answers.filter(answer => answer.call === call);
          return [sent, judgeAnswers(call, own), questions.map(each => judgePrompt(each, call, driver))];
        }
        return sent.length > 0 ? sent : judgeUnanswered(call, first.callback);
      });
    },
  },
});

function judgeSelection(
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

/** Without a driver, nothing shows when the user answered. */
function judgeUnanswered({ cancels, expiries }: CallEvidence, question: CallbackEvidence): Observed {
  if (cancels.length > 0) return null;
  return expiries.some(({ what }) => what === 'timeout')
    ? violatedIfComplete('was never answered, not even with the default', question)
    : unrecorded('no selection was seen', question);
}

/** An answer of the user, and its question. */
interface Answer {
  readonly call: CallEvidence;
  readonly question: ReceivedCallback<'user_choice'>;
  readonly line: InstructionMessage<'answer' | 'dismiss'>;
}

/** Assigns each answer of the user to a question: the oldest open one. */
function answersIn(calls: readonly CallEvidence[], driver: DriverEvidence): readonly Answer[] {
  const open = calls
    .flatMap(call => messagesOf(call, 'user_choice').map(question => ({ call, question })))
    .filter(({ question: { callback } }) => callback.verdict?.kind === 'holds' && !callback.isRefused)
    .toSorted((one, other) => one.question.callback.request.seq - other.question.callback.request.seq);
  return [...driver.instructions('answer'), ...driver.instructions('dismiss')]
    .toSorted((one, other) => one.event.seq - other.event.seq)
    .flatMap(line => {
      const { event } = line;
      const index = open.findIndex(
        ({ call, question }) => question.callback.request.seq < event.seq && isWaiting(call, event.seq),
      );
      const [asked] = index < 0 ? [] : open.splice(index, 1);
      return asked ? { ...asked, line } : [];
    });
}

function isWaiting(call: CallEvidence, at: number): boolean {
  return call.canceledAtSeq > at && !call.results.some(({ request }) => request.seq < at);
}

/** @param answers to the questions of this call */
function judgeAnswers({ selections }: CallEvidence, answers: readonly Answer[]): Observed {
  const answeredAtSeq = answers[0]?.line.event.seq ?? Number.POSITIVE_INFINITY;
  const early = selections.find(({ request }) => request.seq < answeredAtSeq);
  return early ? violated('a selection was sent before the user answered', early) : answers.map(judgeAnswer);
}

function judgeAnswer({ call, question: { callback, message }, line }: Answer): Observation {
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

function judgePrompt(
  { callback, message: { prompt, choices } }: ReceivedCallback<'user_choice'>,
  call: CallEvidence,
  driver: DriverEvidence,
): Observed {
  if (callback.verdict?.kind === 'duplicate') return null; // RT-DUP
  if (callback.isRefused)
    return violated(`a question was answered ${callback.status}`, callback, wrongRefusalDetails(callback));
  if (callback.verdict?.kind !== 'holds') return null;
  const shown = driver.possibleObservationsOf(call, 'question');
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
