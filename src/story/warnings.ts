import { llmTextOf } from '../exchange/ending.js';
import { type Arrival, acknowledgedAfter, answeredAttempt, type Exchange } from '../exchange/exchange.js';
import type { Errand, History } from '../exchange/history.js';
import type { Warning } from '../protocol/requirements.js';
import { formatDuration } from '../text/format-duration.js';
import { countUnseen } from '../text/visible.js';

const SLOW_ACK_MS = 250;
const LATE_ACK_MS = 1_000;

/** Everything worth a warning that follows from what happened; the choice of a display segment has its own. */
export function warningsOf(history: History, exchange: Exchange | undefined): Warning[] {
  const errands = [...history.errands.values()];
  return [
    ...(exchange ? acknowledgementWarnings(exchange) : []),
    ...(exchange?.arrivals.flatMap(arrivalWarnings) ?? []),
    ...misdirected(errands),
    ...errands.flatMap(noticeWarnings),
    ...(exchange ? textWarnings(exchange) : []),
  ];
}

/** What a callback that did nothing is worth saying at once: it is the usual reason for a "timeout". */
export function arrivalWarnings({ verdict, message, warnings }: Arrival): readonly Warning[] {
  const what = message?.type ?? 'callback';
  switch (verdict.kind) {
    case 'rejected':
      return [
        { id: 'RT-VALIDATE', message: `a callback was rejected with ${verdict.status}: ${verdict.reason}` },
      ];
    case 'discarded':
      return [
        { id: 'RT-MATCH', message: `a ${what} was discarded with ${verdict.status}: ${verdict.reason}` },
      ];
    case 'duplicate':
      return verdict.identical
        ? [{ id: 'RT-DUP', message: `the ${what} was delivered again; it counts once` }]
        : [{ id: 'TOOL-ONCE', message: `a second ${what} with other content came; the first counts` }];
    case 'late':
      return [{ message: `a ${what} came after the call had ended; it changes nothing` }];
    default:
      return warnings;
  }
}

/** POSTs that reached the listener but no call. */
export function misdirected(errands: readonly Errand[]): Warning[] {
  const stray = errands.filter(({ purpose, status }) => purpose === 'callback' && status !== undefined);
  const lost = stray.filter(({ refusal }) => refusal === 'wrong-address');
  const refused = stray.filter(({ refusal }) => refusal !== 'wrong-address');
  return [
    ...(lost.length > 0 ? [wrongAddress(lost)] : []),
    ...new Map(refused.map(each => [each.refusal, refusal(each)])).values(),
  ];
}

function wrongAddress(lost: readonly Errand[]): Warning {
  const posts = `${lost.length} post${lost.length === 1 ? '' : 's'} to a wrong callback address`;
  return { id: 'TOOL-OPAQUE', message: `${posts}: ${lost[0]?.url}, where /callback/<token> was given` };
}

function refusal({ status, refusal: reason = '' }: Errand): Warning {
  return { message: `a request to the callback listener was refused with ${status}: ${reason}` };
}

function acknowledgementWarnings(exchange: Exchange): Warning[] {
  const { attempts, settled } = exchange;
  const tries: Warning[] = attempts.slice(0, -1).map(({ status, broken }, index) => ({
    id: 'RT-RETRY' as const,
    message: `attempt ${index + 1} of the invocation ${status === undefined ? `broke (${broken?.code})` : `was answered ${status}`}; it was sent again`,
  }));
  const answered = answeredAttempt(exchange);
  const unread = answered?.status === 200 && settled?.by === 'timeout' ? (answered.bodySize ?? 0) : 0;
  if (unread > 0) tries.push(unreadBody(unread));
  const early = settled?.by === 'result' && (answered?.endedAt ?? Number.POSITIVE_INFINITY) > settled.at;
  const after = acknowledgedAfter(exchange) ?? 0;
  if (early) return [...tries, { id: 'TOOL-ACK', message: 'the result came before the acknowledgement' }];
  if (after <= SLOW_ACK_MS) return tries;
  const limit = after > LATE_ACK_MS ? LATE_ACK_MS : SLOW_ACK_MS;
  return [
    ...tries,
    { id: 'TOOL-ACK', message: `the acknowledgement took ${formatDuration(after)}, more than ${limit}ms` },
  ];
}

/** Every beginner's first mistake, and silent otherwise. */
function unreadBody(size: number): Warning {
  return {
    id: 'TOOL-ASYNC',
    message: `the acknowledgement carried a body of ${size} bytes, which is never read: a result is POSTed to callback_url`,
  };
}

function noticeWarnings({ purpose, status, broken }: Errand): Warning[] {
  const answer =
    status === undefined
      ? `not answered (${broken ?? 'no answer yet'})`
      : `answered ${status} instead of 200`;
  if (status === 200 || (status === undefined && !broken)) return [];
  if (purpose === 'close') return [{ id: 'TOOL-CLOSE', message: `/close_thread was ${answer}` }];
  if (purpose === 'cancel') return [{ id: 'TOOL-CANCEL', message: `/cancel_tool_call was ${answer}` }];
  if (purpose === 'choice')
    return [{ id: 'TOOL-CHOICE', message: `the choice's response_url was ${answer}` }];
  return [];
}

function textWarnings(exchange: Exchange): Warning[] {
  const text = exchange.settled?.by === 'result' ? (llmTextOf(exchange) ?? '') : '';
  const count = countUnseen(text);
  return [
    ...(text.isWellFormed()
      ? []
      : [{ id: 'RT-SANITIZE', message: 'the text holds a lone surrogate; it goes out as U+FFFD' } as const]),
    ...(count > 0
      ? [
          {
            id: 'RT-SANITIZE',
            message: `the text holds ${count} control or invisible characters; the LLM gets them unchanged`,
          } as const,
        ]
      : []),
  ];
}
