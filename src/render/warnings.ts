import type { EventOf } from '../events/events.js';
import {
  ACK_TOLERANCE_MS,
  acknowledgedAfter,
  acknowledgementOf,
  answeredAttempt,
  type Exchange,
  llmTextOf,
} from '../events/exchange.js';
import type { History } from '../events/history.js';
import type { UntrackedRequest } from '../events/untracked-requests.js';
import type { RequirementId, Warning } from '../protocol/requirements.js';
import { formatDuration } from '../util/text.js';
import { hiddenIn } from '../util/visible.js';
import { arrivalWarnings } from './callbacks.js';
import { pluralize } from './line.js';

/** All warnings about a call, except those about the choice of a display segment. */
export function warningsOf(history: History, exchange: Exchange | undefined): Warning[] {
  const untracked = [...history.untracked.values()];
  const { forgotten } = history.untracked;
  const more = pluralize(forgotten, 'more request was', 'more requests were');
  // A server that exited answers nothing: that is no fault of its own.
  const answered = history.exits.length === 0 ? untracked : untracked.filter(({ broken }) => !broken);
  return [
    ...history.exits.flatMap(exit => exitWarnings(exit, exchange)),
    ...(exchange ? callWarnings(exchange, history.isWhole) : []),
    ...misdirected(untracked, history.untracked.misdirected),
    ...answered.flatMap(noticeWarnings),
    ...(forgotten > 0 ? [{ message: `${more} dropped (limit reached)` }] : []),
    ...(exchange?.settled ? resultWarnings(exchange) : []),
  ];
}

/** The warnings of all calls, and those of no call, merged. @param notes come first */
export function warningsOfAll(history: History, notes: readonly Warning[] = []): Warning[] {
  const ofCalls = [...history.exchanges.values()].flatMap(exchange => [
    ...callWarnings(exchange, history.isWhole),
    ...(exchange.settled ? resultWarnings(exchange) : []),
  ]);
  return mergeWarnings([...notes, ...warningsOf(history, undefined), ...ofCalls]);
}

function callWarnings(exchange: Exchange, isWhole: boolean): Warning[] {
  const { arrivals, forgotten } = exchange;
  const callbacks = pluralize(forgotten, 'callback is', 'callbacks are');
  return [
    ...acknowledgementWarnings(exchange, isWhole),
    ...arrivals.flatMap(arrival => arrivalWarnings(arrival, exchange)),
    ...(forgotten > 0 ? [{ message: `${callbacks} not kept: too many, or too large` }] : []),
    ...subscriptionWarnings(exchange),
  ];
}

/** All warnings of a command that made a call, merged. @param more come last */
export function warningsOfEnding(
  {
    history,
    exchange,
    notes,
  }: { history: History; exchange: Exchange | undefined; notes: readonly Warning[] },
  more: readonly Warning[] = [],
): Warning[] {
  return mergeWarnings([...notes, ...warningsOf(history, exchange), ...more]);
}

/** MCP results have their own notes. */
function resultWarnings(exchange: Exchange): Warning[] {
  const { settled } = exchange;
  if (settled?.by === 'answer')
    return [...settled.notes.map(message => ({ message })), ...textWarnings(settled.text)];
  return settled?.by === 'result' ? textWarnings(llmTextOf(exchange) ?? '') : [];
}

/** Maximum number of texts kept per requirement. */
const MAX_TEXTS = 20;

/** Merges equal warnings and counts them; keeps only the first of many about one requirement (threats, row 15). */
export function mergeWarnings(warnings: readonly Warning[]): Warning[] {
  const times = new Map<string, number>();
  for (const { message } of warnings) times.set(message, (times.get(message) ?? 0) + 1);
  const texts = new Map<RequirementId, number>();
  const kept: Warning[] = [];
  for (const warning of new Map(warnings.map(each => [each.message, each])).values()) {
    const { id, message } = warning;
    const count = times.get(message) ?? 1;
    const known = id === undefined ? 0 : (texts.get(id) ?? 0) + 1;
    if (id !== undefined) texts.set(id, known);
    if (known <= MAX_TEXTS)
      kept.push(count === 1 ? warning : { ...warning, message: `${message} (${count} times)` });
  }
  const rest = [...texts].filter(([, count]) => count > MAX_TEXTS);
  return [
    ...kept,
    ...rest.map(([id, count]) => ({ id, message: `… and ${count - MAX_TEXTS} more of this kind` })),
  ];
}

/** The ends of warnings that an option of `invoke` would have avoided. */
const OPTIONS = {
  follow: '; use --follow to receive them',
  noClose: '; use --no-close to leave this notice out',
};

/** Removes hints at options of `invoke` where these do not exist. */
export function withoutOptions(warning: Warning): Warning {
  return {
    ...warning,
    message: Object.values(OPTIONS).reduce((text, hint) => text.replace(hint, ''), warning.message),
  };
}

/** A subscription that was ended before its events arrived. */
function subscriptionWarnings({ subscription }: Exchange): Warning[] {
  const ended = subscription?.ended;
  if (ended?.by !== 'close' && !(ended?.by === 'cancel' && ended.who === 'policy')) return [];
  const how = ended.by === 'close' ? 'closed with its thread' : 'canceled';
  return [
    {
      message: `the tool opened a subscription, but its events were not awaited (it was ${how})${OPTIONS.follow}`,
    },
  ];
}

/** Warns of requests that reached the listener but belong to no call. @param more requests to a wrong address that are not kept */
export function misdirected(untracked: readonly UntrackedRequest[], more = 0): Warning[] {
  const strays = untracked.filter(({ purpose, status }) => purpose === 'callback' && status !== undefined);
  const lost = strays.filter(({ refusal }) => refusal === 'wrong-address');
  const posts = `${pluralize(lost.length + more, 'post')} to a wrong callback URL`;
  const refused = new Map<string, Warning>();
  for (const stray of strays)
    if (stray.refusal !== 'wrong-address') refused.set(stray.refusal ?? '', { message: refusedText(stray) });
  return [
    ...(lost.length > 0
      ? [{ id: 'TOOL-OPAQUE' as const, message: `${posts}: ${lost[0]?.url}; expected /callback/<token>` }]
      : []),
    ...refused.values(),
  ];
}

/** Describes a request that the listener refused. Untrusted. */
export function refusedText({ status, refusal = '' }: UntrackedRequest): string {
  return `a request to the callback listener was refused with ${status}: ${refusal}`;
}

/** One call alone may be slow because the machine is busy, in ms; `check` repeats it. */
const LATE_ACK_MS = 1_000;

function acknowledgementWarnings(exchange: Exchange, isWhole: boolean): Warning[] {
  const retries = exchange.attempts.slice(0, -1).map(({ status, broken }, index): Warning => {
    const end = status === undefined ? `broke (${broken?.code})` : `was answered ${status}`;
    return { id: 'RT-RETRY', message: `attempt ${index + 1} of the invocation ${end}; retried` };
  });
  const { hasOutcome } = acknowledgementOf(exchange) ?? {};
  const unread =
    'the acknowledgement has an outcome in its body, which is ignored; POST the result to callback_url';
  return [
    ...retries,
    ...(hasOutcome ? [{ id: 'TOOL-ASYNC' as const, message: unread }] : []),
    ...lateAcknowledgement(exchange, isWhole),
  ];
}

function lateAcknowledgement(exchange: Exchange, isWhole: boolean): Warning[] {
  const late = (message: string): Warning[] => [{ id: 'TOOL-ACK', message }];
  const { settled } = exchange;
  const { endedAt = Number.POSITIVE_INFINITY } = answeredAttempt(exchange) ?? {};
  if (settled?.by === 'result' && endedAt - settled.at > ACK_TOLERANCE_MS) {
    if (answeredAttempt(exchange))
      return late(`the result arrived before the acknowledgement, by more than ${ACK_TOLERANCE_MS}ms`);
    const missing = 'the result arrived without an acknowledgement';
    return isWhole ? late(missing) : [{ message: `${missing}, which may have been lost` }];
  }
  const after = acknowledgedAfter(exchange) ?? 0;
  if (after <= LATE_ACK_MS) return [];
  return late(`the acknowledgement took ${formatDuration(after)}, more than ${LATE_ACK_MS}ms`);
}

const NOTICES: Readonly<Partial<Record<UntrackedRequest['purpose'], readonly [RequirementId, string]>>> = {
  close: ['TOOL-CLOSE', '/close_thread'],
  cancel: ['TOOL-CANCEL', '/cancel_tool_call'],
  choice: ['TOOL-CHOICE', "the choice's response_url"],
};

/** Warns if a notice or the user's selection was not answered with 200. */
export function noticeWarnings({ purpose, status, broken }: UntrackedRequest): Warning[] {
  const [id, what] = NOTICES[purpose] ?? [];
  if (id === undefined || status === 200 || (status === undefined && !broken)) return [];
  const answer = status === undefined ? `not answered (${broken})` : `answered ${status} instead of 200`;
  const end = purpose === 'close' && broken === 'ECONNRESET' ? OPTIONS.noClose : '';
  return [{ id, message: `${what} was ${answer}${end}` }];
}

const AFTER_CLOSE = ' after POST /close_thread';

/** The exit of a server. A call that it ended reports it as its failure. */
function exitWarnings(
  { message, output: details, calls }: EventOf<'exited'>,
  exchange: Exchange | undefined,
): Warning[] {
  if (exchange && calls?.includes(exchange.key)) return [];
  const end = message.endsWith(AFTER_CLOSE) ? OPTIONS.noClose : '';
  return [{ message: message + end, details }];
}

/** Warns of unusual characters in a text for the LLM (RT-SANITIZE). */
export function textWarnings(text: string): Warning[] {
  const { count } = hiddenIn(text);
  const messages = [
    ...(text.isWellFormed() ? [] : ['the text contains a lone surrogate; it is sent as U+FFFD']),
    ...(count > 0
      ? [`the text contains ${count} control or invisible characters; the LLM receives them unchanged`]
      : []),
  ];
  return messages.map(message => ({ id: 'RT-SANITIZE', message }));
}
