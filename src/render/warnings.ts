import type { Event } from '../events/events.js';
import {
  ACK_SLOW_MS,
  ACK_TOLERANCE_MS,
  type Arrival,
  type Attempt,
  acknowledgedAfter,
  answeredAttempt,
  type Exchange,
  isAcknowledgedLate,
  llmTextOf,
  unreadSize,
} from '../events/exchange.js';
import type { History, UntrackedRequest } from '../events/history.js';
import type { McpAnswer } from '../events/mcp-answer.js';
import type { Invocation } from '../protocol/read-invocation.js';
import type { RequirementId, Warning } from '../protocol/requirements.js';
import { formatDuration } from '../util/format-duration.js';
import { bytesText } from '../util/json-diagnosis.js';
import { countUnseen } from '../util/visible.js';

/** What is said of a callback that came too late, the same wherever it is told. @param sinceMs how long after the call was sent */
export function lateText(
  message: Arrival['message'],
  settled: Exchange['settled'],
  sinceMs: number | null = null,
): string {
  const end = settled?.by === 'cancel' ? 'was canceled' : 'had ended';
  const since = sinceMs === null ? '' : `, ${formatDuration(sinceMs)} after it was sent`;
  return `${message?.type ?? 'callback'} came after the call ${end}${since}; it was ignored`;
}

type Refusal = Extract<Arrival['verdict'], { kind: 'rejected' | 'discarded' }>;

/** What is wrong with a callback that a recorded runtime answered otherwise than this program would. */
export function refusalWords({ message }: Arrival, { kind }: Refusal): string {
  if (kind === 'rejected') return 'is invalid';
  return message?.type === 'subscription_event'
    ? 'belongs to no open subscription'
    : 'matches no pending call';
}

/** Null where the answer was that of this program, or is still to come. */
export function recordedAnswer({ status, broken, verdict }: Arrival): string | null {
  if (status !== undefined) return status === verdict.status ? null : `the runtime answered ${status}`;
  return broken === undefined ? null : `the runtime did not answer (${broken})`;
}

const LATE_ACK_MS = 1_000;
/** Of one requirement. */
const MOST_TEXTS = 20;

/** Everything worth a warning that follows from what happened; the choice of a display segment has its own. */
export function warningsOf(history: History, exchange: Exchange | undefined): Warning[] {
  const untracked = [...history.untracked.values()];
  return [
    ...(exchange ? acknowledgementWarnings(exchange, history.isWhole) : []),
    ...(exchange ? exchange.arrivals.flatMap(arrival => arrivalWarnings(arrival, exchange)) : []),
    ...(exchange ? forgettingWarnings(exchange) : []),
    ...(exchange ? subscriptionWarnings(exchange) : []),
    ...misdirected(untracked, history.untracked.misdirected),
    ...untracked.flatMap(noticeWarnings),
    ...forgottenErrands(history.untracked.forgotten),
    ...(exchange?.settled?.by === 'result' ? textWarnings(llmTextOf(exchange) ?? '') : []),
    ...(exchange?.settled?.by === 'answer' ? answerWarnings(exchange.settled) : []),
  ];
}

/** What is odd about an MCP result; that of an error of JSON-RPC there is none is one of its notes. */
function answerWarnings({ notes, text }: McpAnswer): Warning[] {
  return [...notes.map(message => ({ message })), ...textWarnings(text)];
}

/** What is said many times is said once, with how often; of a flood of texts about one requirement only the first are. */
export function counted(warnings: readonly Warning[]): Warning[] {
  const times = new Map<string, number>();
  for (const { message } of warnings) times.set(message, (times.get(message) ?? 0) + 1);
  const once = new Map(warnings.map(warning => [warning.message, warning]));
  const all = [...once.values()].map(warning => {
    const count = times.get(warning.message) ?? 1;
    return count === 1 ? warning : { ...warning, message: `${warning.message} (${count} times)` };
  });
  return withoutFlood(all);
}

/** Without those that were printed before; what has happened several times since is printed with how often. */
export function untold(warnings: readonly Warning[], told: ReadonlySet<string>): Warning[] {
  return counted(warnings).filter(({ message }) => !told.has(message));
}

function withoutFlood(warnings: readonly Warning[]): Warning[] {
  const texts = new Map<Warning['id'], number>();
  const kept = warnings.filter(({ id }) => {
    const count = (texts.get(id) ?? 0) + 1;
    texts.set(id, count);
    return id === undefined || count <= MOST_TEXTS;
  });
  const rest = [...texts].filter(([id, count]) => id !== undefined && count > MOST_TEXTS);
  return [
    ...kept,
    ...rest.map(([id, count]) => ({
      ...(id !== undefined && { id }),
      message: `… and ${count - MOST_TEXTS} more of this kind`,
    })),
  ];
}

/** What a callback that did nothing is worth saying at once: it is the usual reason for a "timeout". */
export function arrivalWarnings(
  arrival: Arrival,
  { invocation, settled }: Pick<Exchange, 'invocation' | 'settled'>,
): readonly Warning[] {
  const { verdict, message, warnings } = arrival;
  const what = message?.type ?? 'callback';
  switch (verdict.kind) {
    case 'rejected':
      return [{ id: 'RT-VALIDATE', message: `a callback ${refusedText(arrival, verdict)}` }];
    case 'discarded':
      return [{ id: brokenBy(invocation, arrival), message: `a ${what} ${refusedText(arrival, verdict)}` }];
    case 'ignored':
      return [
        {
          ...(message?.type === 'view_update' && { id: 'RT-VIEW' as const }),
          message: `a ${what} was ignored: ${verdict.reason}`,
        },
      ];
    case 'duplicate':
      return verdict.identical
        ? [{ id: 'RT-DUP', message: `the ${what} was delivered again; ignored` }]
        : [
            {
              id: 'TOOL-ONCE',
              message: `a second ${what} with other content was ignored; the first one counts`,
            },
          ];
    case 'late':
      if (settled?.by === 'cancel') return []; // it may have crossed the cancel: the tool is not to blame
      return [{ message: `a ${lateText(message, settled)}` }];
    default:
      return warnings;
  }
}

function refusedText(arrival: Arrival, verdict: Refusal): string {
  const answered = recordedAnswer(arrival);
  if (answered === null) return `was ${verdict.kind} with ${verdict.status}: ${verdict.reason}`;
  return `${refusalWords(arrival, verdict)}: ${verdict.reason}; ${answered}`;
}

/** What the tool has broken with a callback that a runtime discards (RT-MATCH): of a subscription that is none, or by a wrong name. */
function brokenBy({ group_id }: Invocation, { message }: Arrival): RequirementId {
  if (message && message.group_id !== group_id) return 'TOOL-GROUP';
  return message?.type === 'subscription_event' ? 'TOOL-SUB' : 'TOOL-ID';
}

/** What is told of the call is not all of it. */
function forgettingWarnings({ forgotten }: Exchange): Warning[] {
  if (forgotten === 0) return [];
  const callbacks = forgotten === 1 ? '1 callback is' : `${forgotten} callbacks are`;
  return [{ message: `${callbacks} not kept: too many, or too large` }];
}

function forgottenErrands(count: number): Warning[] {
  if (count === 0) return [];
  const requests = count === 1 ? '1 request' : `${count} requests`;
  return [{ message: `${requests} other than callbacks not kept: too many` }];
}

/** Of `invoke`, which can stay. */
const FOLLOW = '; use --follow to receive them';

/** A warning as it is told where there is no such option. */
export function withoutFollow(warning: Warning): Warning {
  return { ...warning, message: warning.message.replace(FOLLOW, '') };
}

/** Nobody stayed for what the result announced. */
function subscriptionWarnings({ subscription }: Exchange): Warning[] {
  const ended = subscription?.ended;
  if (ended?.by !== 'close' && !(ended?.by === 'cancel' && ended.who === 'policy')) return [];
  const how = ended.by === 'close' ? 'closed with its thread' : 'canceled';
  return [
    { message: `the tool opened a subscription, but its events were not awaited (it was ${how})${FOLLOW}` },
  ];
}

/** POSTs that reached the listener but no call. @param more of those to a wrong address, that are not kept */
export function misdirected(untracked: readonly UntrackedRequest[], more = 0): Warning[] {
  const stray = untracked.filter(({ purpose, status }) => purpose === 'callback' && status !== undefined);
  const lost = stray.filter(({ refusal }) => refusal === 'wrong-address');
  const refused = stray.filter(({ refusal }) => refusal !== 'wrong-address');
  return [
    ...(lost.length > 0 ? [wrongAddress(lost, more)] : []),
    ...new Map(refused.map(each => [each.refusal, refusal(each)])).values(),
  ];
}

function wrongAddress(lost: readonly UntrackedRequest[], more: number): Warning {
  const count = lost.length + more;
  const posts = `${count} post${count === 1 ? '' : 's'} to a wrong callback URL`;
  return { id: 'TOOL-OPAQUE', message: `${posts}: ${lost[0]?.url}; expected /callback/<token>` };
}

function refusal({ status, refusal: reason = '' }: UntrackedRequest): Warning {
  return { message: `a request to the callback listener was refused with ${status}: ${reason}` };
}

function acknowledgementWarnings(exchange: Exchange, isWhole: boolean): Warning[] {
  const { attempts } = exchange;
  const tries: Warning[] = attempts.slice(0, -1).map(({ status, broken }, index) => ({
    id: 'RT-RETRY' as const,
    message: `attempt ${index + 1} of the invocation ${status === undefined ? `broke (${broken?.code})` : `was answered ${status}`}; retried`,
  }));
  const answered = answeredAttempt(exchange);
  const unread = unreadSize(exchange);
  if (unread > 0) tries.push(unreadBody(unread));
  const after = acknowledgedAfter(exchange) ?? 0;
  if (isAcknowledgedLate(exchange)) return [...tries, lateAcknowledgement(answered, isWhole)];
  if (after <= ACK_SLOW_MS) return tries;
  const limit = after > LATE_ACK_MS ? LATE_ACK_MS : ACK_SLOW_MS;
  return [
    ...tries,
    { id: 'TOOL-ACK', message: `the acknowledgement took ${formatDuration(after)}, more than ${limit}ms` },
  ];
}

function lateAcknowledgement(answered: Attempt | undefined, isWhole: boolean): Warning {
  if (!answered && !isWhole)
    return { message: 'the result arrived without an acknowledgement, which may have been lost' };
  const message = answered
    ? `the result arrived before the acknowledgement, by more than ${ACK_TOLERANCE_MS}ms`
    : 'the result arrived without an acknowledgement';
  return { id: 'TOOL-ACK', message };
}

/** Every beginner's first mistake, and silent otherwise. */
function unreadBody(size: number): Warning {
  return {
    id: 'TOOL-ASYNC',
    message: `the acknowledgement carried a body of ${bytesText(size)}, which is ignored; POST the result to callback_url`,
  };
}

/** Notices, and the user's selection, that were not taken. */
export function noticeWarnings({ purpose, status, broken }: UntrackedRequest): Warning[] {
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

/** What is unusual about a text that the LLM gets (RT-SANITIZE). */
export function textWarnings(text: string): Warning[] {
  const count = countUnseen(text);
  return [
    ...(text.isWellFormed()
      ? []
      : [
          { id: 'RT-SANITIZE', message: 'the text contains a lone surrogate; it is sent as U+FFFD' } as const,
        ]),
    ...(count > 0
      ? [
          {
            id: 'RT-SANITIZE',
            message: `the text contains ${count} control or invisible characters; the LLM receives them unchanged`,
          } as const,
        ]
      : []),
  ];
}

/** The callback that a request, or the answer to it, is about; null where it is about none that reached a call. */
export function arrivalOf(
  { exchanges }: History,
  event: Event,
): { readonly exchange: Exchange; readonly arrival: Arrival } | null {
  if (event.kind !== 'request' && event.kind !== 'response') return null;
  const exchange = exchanges.get(event.calls?.[0] ?? '');
  const arrival = exchange?.arrivals.findLast(({ leg }) => leg === event.leg);
  return exchange && arrival ? { exchange, arrival } : null;
}

/** The callback that an event has just brought. */
export function newArrivalOf(history: History, event: Event): Arrival | null {
  return event.kind === 'request' ? (arrivalOf(history, event)?.arrival ?? null) : null;
}
