import { isQuestion } from '../../protocol/callbacks.js';
import { llmText } from '../../protocol/outcome.js';
import { urlWithoutQuery } from '../../util/url.js';
import type { CallEvidence } from '../call.js';
import type { DriverEvidence } from '../driver-evidence.js';
import { messagesOf } from '../recorded-call.js';
import { defineRules, met, type Observed, violated, violatedIfComplete } from '../rule.js';
import { faultLine, wrongRefusalDetails } from '../rule-details.js';

/** What a runtime does while a tool waits for the user. */
export const runtimeQuestionRules = defineRules({
  'RT-PENDING': {
    level: 'MUST',
    statement: 'keeps the call pending during oauth and user_choice, and does not send it again',
    advice:
      'Keep the call pending after oauth or user_choice, and wait: the tool continues without a new invocation.',
    masks: ['RT-TEXT', 'RT-DISPLAY', 'RT-NOTIFY', 'RT-ACK'],
    absent: 'no tool asked the user anything',
    observe: ({ calls, driver }) =>
      calls.map(call => [judgeRepeatedCall(call), driver && judgePendingCall(call, driver)]),
  },
  'RT-OAUTH': {
    level: 'MUST',
    statement: 'shows the auth_url to the user, and never stores or logs it',
    advice: 'Show auth_url to the user, and remove its query from all logs and files.',
    masks: ['RT-PENDING', 'RT-TEXT', 'RT-ACK'],
    needs: ['consent'],
    absent: 'not a transcript of a runtime with an oauth message',
    observe: ({ calls, observer, driver }) => {
      if (driver) return [calls.map(call => judgeConsent(call, driver)), judgeLeaks(driver)];
      const questions = observer === 'runtime' ? calls.flatMap(call => messagesOf(call, 'oauth')) : [];
      return questions.map(({ callback, message: { auth_url } }) =>
        auth_url === urlWithoutQuery(auth_url)
          ? met(callback)
          : violated('the transcript keeps the query of the auth_url', callback),
      );
    },
  },
});

function judgeRepeatedCall({ received, attempts }: CallEvidence): Observed {
  const question = received.find(({ message }) => isQuestion(message));
  if (!question) return null;
  const { response, request } = question.callback;
  const again = attempts.find(each => each.request.at > (response ?? request).at);
  return again
    ? violated('the invocation was sent again after the question', [question.callback, again])
    : met(question.callback);
}

/** The model must get nothing of the call between the question and the result. */
function judgePendingCall(call: CallEvidence, driver: DriverEvidence): Observed {
  const question = call.received.find(({ message }) => isQuestion(message))?.callback;
  if (!question) return null;
  const result = messagesOf(call, 'tool_result').find(
    ({ callback }) => callback.request.seq > question.lastSeq && callback.verdict?.kind === 'settles',
  );
  const resultAt = result?.callback.request.seq ?? Number.POSITIVE_INFINITY;
  const early = driver
    .observationsOf(call, 'model', 'failure')
    .find(
      ({ event: { seq } }) => seq > question.request.seq && seq < Math.min(resultAt, driver.mayIgnoreFromSeq),
    );
  if (early) return violated('the model got something of a call that waited for the user', [question, early]);
  if (!result || result.callback.lastSeq > driver.mayIgnoreFromSeq) return null; // it may have ended before
  const { callback, message } = result;
  const proof = [question, callback];
  if (callback.isRefused)
    return violatedIfComplete(
      `the result after a question was answered ${callback.status}`,
      proof,
      wrongRefusalDetails(callback),
    );
  const isLost = driver.supports('model') && !driver.textForModel(llmText(message), resultAt);
  return isLost
    ? violatedIfComplete('the result after a question did not reach the model', proof)
    : met(proof);
}

function judgeConsent(call: CallEvidence, driver: DriverEvidence): Observed {
  const shown = driver.possibleObservationsOf(call, 'consent');
  return messagesOf(call, 'oauth').map(({ callback }) => {
    if (callback.isRefused)
      return violated(
        `an oauth message was answered ${callback.status}`,
        callback,
        wrongRefusalDetails(callback),
      );
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

function judgeLeaks(driver: DriverEvidence): Observed {
  return driver.findings('leak').map(leak => {
    const { where, text } = leak.message;
    return violated(LEAKS[where], leak, { faults: [faultLine(text)] });
  });
}
