import type { Event } from '../events/events.js';
import { type Arrival, type Exchange, outcomeOf, type VerdictKind } from '../events/exchange.js';
import type { History } from '../events/history.js';
import { idOf } from '../events/judge-callback.js';
import type { Callback, CallbackType, UserChoice } from '../protocol/callbacks.js';
import { isSuccess } from '../protocol/http-status.js';
import type { RequirementId, Warning } from '../protocol/requirements.js';
import { formatDuration } from '../util/text.js';
import {
  clipped,
  type Line,
  line,
  type Mark,
  quote,
  say,
  textLines,
  titleLine,
  took,
  withMark,
} from './line.js';
import type { Step } from './step.js';

/** The callback that a request or its end belongs to; null if the event belongs to no callback of a known call. */
export function arrivalOf(
  { exchanges }: History,
  event: Event,
): { readonly exchange: Exchange; readonly arrival: Arrival } | null {
  if (event.kind !== 'request' && event.kind !== 'response' && event.kind !== 'broken') return null;
  const exchange = exchanges.get(event.calls?.[0] ?? '');
  const arrival = exchange?.arrivals.findLast(({ leg }) => leg === event.leg);
  return exchange && arrival ? { exchange, arrival } : null;
}

/** The callback that this event delivered. */
export function newArrivalOf(history: History, event: Event): Arrival | null {
  return event.kind === 'request' ? (arrivalOf(history, event)?.arrival ?? null) : null;
}

/** The recorded runtime's answer; null if this program would give the same answer, or without an answer yet. */
function recordedAnswer({ status, broken, verdict }: Arrival): string | null {
  if (status !== undefined) return status === verdict.status ? null : `the runtime answered ${status}`;
  return broken === undefined ? null : `the runtime did not answer (${broken})`;
}

/** Maximum length of an event text or a reason, in characters. Other outputs have the whole text. */
const MAX = 4_000;

type ArrivalWith<Kind extends VerdictKind> = Arrival & {
  readonly verdict: Extract<Arrival['verdict'], { kind: Kind }>;
};

/** The texts for callbacks with one kind of verdict. */
interface VerdictText<Kind extends VerdictKind> {
  readonly mark: Extract<Mark, 'done' | 'note' | 'failed'>;
  readonly words: (arrival: ArrivalWith<Kind>, exchange: Exchange) => Line;
  /** Why the callback had no effect (the usual reason for a "timeout"); null if it had one. */
  readonly warning: ((arrival: ArrivalWith<Kind>, exchange: Exchange) => Warning | null) | null;
}

const VERDICT_TEXTS: { readonly [Kind in VerdictKind]: VerdictText<Kind> } = {
  settles: {
    mark: 'done',
    words({ at }, exchange) {
      const asked = exchange.arrivals.findLast(({ verdict }) => verdict.kind === 'holds');
      const isGranted = asked?.message?.type === 'oauth' && outcomeOf(exchange)?.type === 'success';
      const opens = exchange.subscription ? '; it opened a subscription' : '';
      return line`result${afterSent(exchange, at)}${isGranted && '; consent was given'}${opens}`;
    },
    warning: null,
  },
  holds: { mark: 'note', words: ({ message }) => messageWords(message)[0] ?? [], warning: null },
  noted: {
    mark: 'note',
    words({ message, progress, notification, at }, exchange) {
      const event = message?.type === 'subscription_event' && message;
      const named = notification === undefined ? messageWords(message)[0] : clipped(notification, 'plain');
      const what = event ? eventWords(event, exchange.subscription?.events) : named;
      const text = event && line`: ${clipped(event.text, 'plain', MAX)}`;
      return line`${progress ? progressWords(progress) : what}${text}${afterSent(exchange, at)}`;
    },
    warning: null,
  },
  ignored: {
    mark: 'note',
    words: ({ message, verdict }) =>
      line`${nameOf(message)} ignored: ${clipped(verdict.reason, 'plain', MAX)}`,
    warning: ({ message, verdict }) => ({
      ...(message?.type === 'view_update' && { id: 'RT-VIEW' }),
      message: `a ${nameOf(message)} was ignored: ${verdict.reason}`,
    }),
  },
  duplicate: {
    mark: 'note',
    words({ message, verdict, at }, exchange) {
      const again = verdict.identical ? 'delivered again' : 'with other content';
      return line`${nameOf(message)} ${again}${afterSent(exchange, at)}; the first counts`;
    },
    // The same result again is a retry, which breaks no requirement.
    warning: ({ message, verdict }) =>
      verdict.identical
        ? { message: `the ${nameOf(message)} was delivered again; ignored` }
        : {
            id: 'TOOL-ONCE',
            message: `a second ${nameOf(message)} with other content was ignored; the first one counts`,
          },
  },
  late: {
    mark: 'note',
    words: (arrival, exchange) => [say(lateText(arrival, exchange, msSinceSent(exchange, arrival.at)))],
    // The callback may have crossed the cancel, so the tool is not to blame.
    warning(arrival, exchange) {
      if (arrival.message?.type === 'subscription_event')
        return arrival.warnings.find(({ id }) => id === 'TOOL-SUB') ?? null;
      return exchange.settled?.by === 'cancel' ? null : { message: `a ${lateText(arrival, exchange)}` };
    },
  },
  discarded: {
    mark: 'failed',
    words: refusedWords,
    warning: (arrival, exchange) => ({
      id: violatedBy(exchange, arrival),
      message: `a ${nameOf(arrival.message)} ${refusedText(arrival)}`,
    }),
  },
  rejected: {
    mark: 'failed',
    words: refusedWords,
    warning: arrival => ({ id: 'TOOL-POST', message: `a callback ${refusedText(arrival)}` }),
  },
};

function verdictTextOf({ verdict }: Arrival): VerdictText<VerdictKind> {
  return VERDICT_TEXTS[verdict.kind] as VerdictText<VerdictKind>;
}

/** The step of a callback, with the recorded runtime's answer if it differs from ours. */
export function arrivalStep(exchange: Exchange, arrival: Arrival): Step {
  const { verdict, message, leg, at, status = 500 } = arrival;
  const { mark, words } = verdictTextOf(arrival);
  const answered = recordedAnswer(arrival);
  const said = words(arrival, exchange);
  const isRefused = answered !== null && status >= 400;
  return {
    at,
    state: isRefused && mark === 'done' ? 'failed' : mark,
    lines: [
      answered === null ? said : line`${said}; ${quote(answered)}`,
      ...(verdict.kind === 'holds' ? messageWords(message).slice(1) : []),
    ],
    leg,
  };
}

/** Warns if a callback had no effect, or if an accepted one is unusual. */
export function arrivalWarnings(arrival: Arrival, exchange: Exchange): readonly Warning[] {
  const { warning } = verdictTextOf(arrival);
  if (warning === null) return arrival.warnings;
  const said = warning(arrival, exchange);
  return said ? [said] : [];
}

/** Describes a callback that arrived too late. @param sinceMs after the call was sent */
export function lateText({ message }: Arrival, { settled }: Exchange, sinceMs: number | null = null): string {
  if (message?.type === 'subscription_event')
    return `${nameOf(message)} came after the subscription was canceled; it was ignored`;
  const end = settled?.by === 'cancel' ? 'was canceled' : 'had ended';
  const since = sinceMs === null ? '' : `, ${formatDuration(sinceMs)} after it was sent`;
  return `${nameOf(message)} came after the call ${end}${since}; it was ignored`;
}

type Refused = ArrivalWith<'rejected' | 'discarded'>;

function refusedWords(arrival: Refused): Line {
  const { message, verdict } = arrival;
  return line`${nameOf(message)} ${howRefused(arrival)}: ${clipped(verdict.reason, 'plain', MAX)}`;
}

function refusedText(arrival: Refused): string {
  const { kind, status, reason } = arrival.verdict;
  const answered = recordedAnswer(arrival);
  if (answered === null) return `was ${kind} with ${status}: ${reason}`;
  return `${howRefused(arrival)}: ${reason}; ${answered}`;
}

/** How this program answered a callback, or how a recorded runtime's different answer is wrong. */
function howRefused(arrival: Refused): string {
  const { kind, status } = arrival.verdict;
  if (recordedAnswer(arrival) === null) return `${kind} with ${status}`;
  if (kind === 'rejected') return 'is invalid';
  const isEvent = arrival.message?.type === 'subscription_event';
  return isEvent ? 'belongs to no open subscription' : 'matches no pending call';
}

/** The requirement that a discarded callback violates (RT-MATCH). */
function violatedBy({ invocation }: Exchange, { message }: Arrival): RequirementId {
  if (message && message.group_id !== invocation.group_id) return 'TOOL-GROUP';
  return message?.type === 'subscription_event' ? 'TOOL-SUB' : 'TOOL-ID';
}

function nameOf(message: Arrival['message']): string {
  return message?.type ?? 'callback';
}

/** Returns nothing if another program made the call. */
function afterSent(exchange: Exchange, at: number) {
  const ms = msSinceSent(exchange, at);
  return ms === null ? null : took(ms);
}

function msSinceSent({ attempts: [first] }: Exchange, at: number): number | null {
  return first ? at - first.sentAt : null;
}

/** How an accepted callback of each type reads, without its panes. */
const MESSAGES: {
  readonly [Type in CallbackType]: (message: Extract<Callback, { type: Type }>) => readonly Line[];
} = {
  tool_result: ({ subscription }) => (subscription ? [line`opens a subscription; events follow`] : []),
  oauth: ({ auth_url }) => [line`visit ${quote(auth_url, 'title')} to continue`],
  user_choice: questionLines,
  subscription_event: message => [line`${eventWords(message)}`],
  view_update({ view_type, content }) {
    const isCleared = Object.keys(content).length === 0; // RT-VIEW
    return [line`view ${quote(view_type, 'title')} ${isCleared ? 'cleared' : 'updated'}`];
  },
};

function messageWords(message: Arrival['message']): readonly Line[] {
  return message ? (MESSAGES[message.type] as (message: Callback) => readonly Line[])(message) : [];
}

/** A callback without its panes. */
export function messageLines(message: Callback): Line[] {
  const words = messageWords(message).map((each, index) =>
    index === 0 ? withMark('note', each) : [say('  '), ...each],
  );
  return [callHeading(message.type, { ...message, id: idOf(message) }), ...words];
}

/** The call and the thread of a message. */
interface CallIds {
  readonly id?: string | undefined;
  readonly call_id?: string | null | undefined;
  readonly group_id?: string | undefined;
}

/** Returns a heading with the type, the call and the thread. */
export function callHeading(what: string, { id, call_id, group_id }: CallIds): Line {
  return [
    ...quote(what, 'title'),
    ...(id === undefined ? [] : [say(' of call ', 'dim'), ...quote(id)]),
    ...(call_id ? [say(' (call_id ', 'dim'), ...quote(call_id), say(')', 'dim')] : []),
    ...(group_id === undefined ? [] : [say(' in thread ', 'dim'), ...quote(group_id)]),
  ];
}

function progressWords({ progress, total, message }: NonNullable<Arrival['progress']>): Line {
  const share = total !== undefined && total > 0 && ` of ${total}`;
  return line`progress ${progress}${share}${message !== undefined && line`: ${clipped(message, 'plain', MAX)}`}`;
}

type SubscriptionEvent = Extract<Callback, { type: 'subscription_event' }>;

/** The subscription event in a callback, if it was accepted. */
export function eventOf({ verdict, message }: Arrival): SubscriptionEvent | null {
  return verdict.kind === 'noted' && message?.type === 'subscription_event' ? message : null;
}

/** The kind of the event, and the conversation that receives it. */
function eventWords(
  { associative, final }: Pick<SubscriptionEvent, 'associative' | 'final'>,
  number?: number,
): string {
  const place = associative ? 'this thread (associative)' : 'child thread';
  return `${final ? 'last event' : 'event'}${number === undefined ? '' : ` ${number}`} → ${place}`;
}

/** A subscription event that a runtime accepted (RT-SUB). */
interface SubscriptionEventText {
  readonly line: Line;
  /** The whole text for the LLM; null if no subscription was open, since nothing shows whether the LLM got it. */
  readonly text: string | null;
  /** The heading above the text: the kind of event, its conversation, and its arrival time. */
  readonly heading: Line;
}

/**
 * Returns the subscription event that this event delivered, or null; one without an open subscription only with the answer of a recorded
 * runtime that accepted it.
 * @param history contains the event already
 */
export function subscriptionEventIn(history: History, event: Event): SubscriptionEventText | null {
  const { exchange, arrival } = arrivalOf(history, event) ?? {};
  if (!exchange || !arrival) return null;
  if (event.kind === 'response') {
    const isEvent = arrival.message?.type === 'subscription_event' && arrival.verdict.kind === 'discarded';
    if (!isEvent || !isSuccess(event.status)) return null;
    const heading = withMark('failed', arrivalStep(exchange, arrival).lines[0] ?? []);
    return { line: heading, text: null, heading };
  }
  const message = event.kind === 'request' && eventOf(arrival);
  if (!message) return null;
  const which = eventWords(message, exchange.subscription?.events);
  return {
    line: withMark('note', arrivalStep(exchange, arrival).lines[0] ?? []),
    text: message.text,
    heading: withMark('note', line`${say(which, 'dim')}${afterSent(exchange, event.at)}`),
  };
}

/** Limits of a question: lines of the prompt, choices, and characters of a choice. */
const SHOWN = { lines: 200, choices: 1_000, characters: 2_000 };

const DEFAULT = say(' (default)', 'dim');

/** Lines for a tool's question: its prompt, then its choices. */
function questionLines({ prompt, choices, default: preset }: UserChoice): Line[] {
  const { lines, total } = textLines(prompt, SHOWN.lines);
  const more = (count: number, what: string): Line[] =>
    count > 0 ? [[say(`… ${count} more ${what}`, 'dim')]] : [];
  const [first = [], ...others] = lines.map(titleLine);
  return [
    line`the tool asks: ${first}`,
    ...others,
    ...more(total - lines.length, 'lines'),
    ...choices.slice(0, SHOWN.choices).map((choice, index) => {
      const label = clipped(choice, 'plain', SHOWN.characters);
      return line`${say(`${index} `, 'gutter')}${label}${index === preset && DEFAULT}`;
    }),
    ...more(choices.length - SHOWN.choices, 'choices'),
  ];
}
