import type { RoundTrip } from '../../events/round-trips.js';
import { bytesText, formatDuration } from '../../util/text.js';
import type { Evidence } from '../evidence.js';
import { defineRules, met, type Observation, type Observed, unrecorded, violated } from '../rule.js';
import { refusalDetails, toolCrashObservation } from '../rule-details.js';

/** How a tool takes notices: canceled calls and closed threads. */
export const noticeRules = defineRules({
  'TOOL-CANCEL': {
    level: 'SHOULD',
    statement: 'always answers /cancel_tool_call with 200; never crashes on it',
    advice:
      'Answer POST /cancel_tool_call with 200 for every id, known or not, and catch errors of the handler.',
    failsWhere: 'the tool crashes',
    absent: 'no call was canceled',
    observe: evidence => judgeNotices(evidence.cancels, '/cancel_tool_call', evidence),
  },
  'TOOL-CLOSE': {
    level: 'SHOULD',
    statement: 'always answers /close_thread with 200 and an empty body; never crashes on it',
    advice:
      'Answer POST /close_thread with 200 for every thread_id, known or not, and catch errors of the handler.',
    failsWhere: 'the tool crashes',
    absent: 'no thread was closed',
    observe: evidence => judgeNotices(evidence.closes, '/close_thread', evidence),
  },
});

function judgeNotices(notices: readonly RoundTrip[], path: string, evidence: Evidence): Observed {
  const { message: cause, exit = null } = evidence.toolCrash ?? {};
  const isCut = ({ status, failure }: RoundTrip) =>
    exit !== null && status === null && failure !== 'timed-out';
  const others = notices.filter(notice => notice !== cause && !isCut(notice));
  return [
    cause && notices.includes(cause) ? toolCrashObservation(evidence, 'notice', path) : null,
    others.map(notice => judgeNotice(notice, path)),
  ];
}

function judgeNotice(notice: RoundTrip, path: string): Observation {
  const { status, broken: error, response, responseSize } = notice;
  if (status === 200) {
    if (responseSize === 0) return met(notice);
    const length = response?.headers['content-length'];
    const actual = length === undefined ? 'a body' : `a body of ${bytesText(Number(length))}`;
    const advice = `Answer POST ${path} with 200 and an empty body.`;
    return violated(`${path} answered 200 with ${actual}`, notice, {
      expected: 'an empty body',
      actual,
      advice,
    });
  }
  if (status !== null) return violated(`${path} answered ${status}`, notice, refusalDetails(notice));
  if (!error) return unrecorded(`the answer to ${path} was not recorded`, notice);
  if (notice.isUnsent) return unrecorded(`${path} could not be reached (${error.code})`, notice);
  const how =
    error.code === 'ETIMEDOUT' ? `within ${formatDuration(error.at - notice.request.at)}` : `(${error.code})`;
  return violated(`${path} did not answer ${how}`, notice, { expected: '200' });
}
