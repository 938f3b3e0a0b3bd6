import type { Body, Event, EventKind, RequestEvent } from '../events/events.js';
import { isAccepted, type SentRequest } from '../events/round-trips.js';
import { urlRedactor } from '../events/shareable.js';
import {
  type CallbackDelivery,
  isDelivered,
  type ToolCall,
  type ToolCallState,
  toolCallState,
  typeOfDelivery,
} from '../events/tool-call.js';
import { isQuestion } from '../protocol/callbacks.js';
import type { Redactor } from '../util/redact.js';
import { bytesText, decodeUtf8, formatDuration } from '../util/text.js';
import { isRecord } from '../util/values.js';
import { argsCell, type CallState, idCell, jsonLines, timeCell, viewOf } from './calls.js';
import {
  clipped,
  DRIVER_ARROWS,
  elapsed,
  type Line,
  labelled,
  line,
  MARKS,
  type Mark,
  pluralize,
  quote,
  runningClock,
  say,
  type Tone,
  took,
  withMark,
} from './line.js';
import { type KnownSessions, sessionNews } from './session-calls.js';

/*
 * Calls as a mock tool saw them: list rows, events, and details of a call. URLs that grant access to a conversation are left out (threats,
 * row 25).
 */

/** Maximum length of a value, in characters. */
const MAX = 2_000;

/** The secrets of a call: a callback URL grants the tool's rights, a response URL the user's. */
function secretsOf({ addressee, deliveries }: ToolCall): Redactor {
  if (!addressee) return urlRedactor([]);
  const { callback_url, id, group_id, call_id } = addressee;
  // The URL of a consent page is for the user and stays visible.
  const responseUrls = deliveries.flatMap(({ body }) => textOf(messageIn(body), 'response_url') || []);
  return urlRedactor([callback_url, ...responseUrls], [id, group_id, call_id ?? '']);
}

type Members = Readonly<Record<string, unknown>>;

function messageIn(body: Body | null | undefined): Members {
  return body?.json.ok && isRecord(body.json.value) ? body.json.value : {};
}

function textOf(message: Members, name: string): string {
  const value = message[name];
  return typeof value === 'string' ? value : '';
}

/** Names a call by its operation, its id and its thread. */
function callName({ invocation, addressee }: ToolCall): Line {
  const { id = '', group_id = '' } = addressee ?? {};
  return [
    ...(invocation ? clipped(invocation.operation, 'title') : [say('a call', 'title')]),
    ...(id ? line` ${id}` : []),
    ...(group_id ? [say(' (', 'dim'), ...clipped(group_id, 'dim'), say(')', 'dim')] : []),
  ];
}

/** The fixture or handler that answers a call, or why none does; empty if unknown. */
function answeredBy({ answeredBy, plans, warnings }: ToolCall): Line {
  if (answeredBy !== null) return quote(answeredBy);
  if (plans.includes('rate-limit')) return [say('over the rate limit', 'warn')];
  if (plans.some(plan => plan.startsWith('ack '))) return [say('a fault', 'warn')];
  return warnings.length > 0 ? [say('no fixture', 'warn')] : [];
}

/** Why the delivery of a callback failed. */
function faultOf({ status, broken = 'broken' }: SentRequest): string {
  return status === undefined ? broken : `answered ${status}`;
}

const STATES: Readonly<Record<ToolCallState, readonly [Mark, (call: ToolCall) => Line]>> = {
  waiting: [
    'running',
    ({ deliveries, isCancelled }) => {
      const attempts = deliveries.at(-1)?.attempts ?? [];
      const failed = attempts.findLast(each => each.endedAt !== undefined && !isAccepted(each));
      if (failed) return [say(`retrying, ${faultOf(failed)}`, 'warn')];
      return [say(isCancelled ? 'canceled' : 'waiting', 'running')];
    },
  ],
  asking: [
    'asking',
    ({ awaits }) => [say(awaits === 'consent' ? 'asks for consent' : 'asks for a choice', 'warn')],
  ],
  delivered: [
    'done',
    ({ deliveries, receivedAt }) => {
      const result = deliveries.find(each => isDelivered(each) && typeOfDelivery(each) === 'tool_result');
      const endedAt = result?.attempts.find(isAccepted)?.endedAt ?? receivedAt;
      return line`delivered${took(endedAt - receivedAt)}`;
    },
  ],
  undelivered: ['failed', call => clipped(secretsOf(call).text(call.lost ?? 'not delivered'), 'bad')],
  silent: ['aside', () => [say('no result (planned)', 'dim')]],
  refused: ['failed', ({ acknowledgement: { status } }) => [say(`refused with ${status}`, 'bad')]],
};

function stateOf(call: ToolCall, now: number): CallState {
  const notes = notesOn(call).map(note => say(`, ${note}`, 'dim'));
  if (call.awaits === 'fire')
    return {
      mark: MARKS.asking,
      isRunning: false,
      line: [say('waiting: press f to send', 'warn'), ...notes],
    };
  const state = toolCallState(call);
  const [mark, wordsOf] = STATES[state];
  const isUnanswered = state === 'delivered' && isUnmatched(call);
  const isLate = state === 'delivered' && call.lost !== null;
  const isDoubtful = state === 'delivered' && call.warnings.length > 0; // its answer may differ from the fixture
  const isRunning = state === 'waiting' || state === 'asking';
  // The duration of a question starts when it was asked.
  const askedAt = state === 'asking' ? call.deliveries.at(-1)?.attempts[0]?.at : undefined;
  return {
    mark: isDoubtful || isLate ? MARKS.warning : MARKS[mark],
    isRunning,
    line: line`${isUnanswered && say('no fixture, ', 'warn')}${wordsOf(call)}${isLate && say(', a later one failed', 'bad')}${notes}${isRunning && runningClock(now - (askedAt ?? call.receivedAt))}`,
  };
}

/** Whether the delivered answer only reports that no fixture matches. */
function isUnmatched({ invocation, answeredBy, plans, warnings }: ToolCall): boolean {
  return invocation !== null && answeredBy === null && plans.length === 0 && warnings.length > 0;
}

function notesOn(call: ToolCall): string[] {
  const { arrivals, isCancelled, deliveries, forgotten, warnings } = call;
  const attempts = Math.max(0, ...deliveries.map(delivery => delivery.attempts.length));
  const isEvent = (each: CallbackDelivery) =>
    typeOfDelivery(each) === 'subscription_event' && isDelivered(each);
  const events = deliveries.filter(isEvent).length + forgotten;
  return [
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
    ...(events > 0 ? [pluralize(events, 'event')] : []),
    ...(arrivals > 1 ? [`received ${arrivals}×`] : []),
    ...(warnings.length > 0 && !isUnmatched(call) ? [pluralize(warnings.length, 'warning')] : []),
    ...(isCancelled && toolCallState(call) !== 'waiting' ? ['canceled'] : []),
  ];
}

function questionOf(call: ToolCall | undefined): Members {
  return messageIn(call?.deliveries.findLast(each => isQuestion({ type: typeOfDelivery(each) }))?.body);
}

function choiceOf(question: Members, index: unknown): string | undefined {
  const choices = Array.isArray(question['choices']) ? question['choices'] : [];
  const choice: unknown = choices[Number(index)];
  return choice === undefined ? undefined : String(choice);
}

type DecidedEvent = Extract<Event, { kind: 'decided' }>;

/** The decision and who made it; a choice is shown by its label. */
function decisionWords({ what, value = '', by }: DecidedEvent, call: About): Line {
  const label = what === 'choice' ? (choiceOf(questionOf(call), value) ?? value) : value;
  // A mock has no policy: firing a call by hand gives the preset answer.
  const who = by === 'policy' ? 'sent manually' : `by a ${by}`;
  return line`${what} ${clipped(String(label), 'title')} ${say(who, 'dim')}`;
}

/** The call that an event is about, if it is still remembered. */
type About = ToolCall | undefined;

/** State that includes the event: the call of a mock, or agent sessions. */
interface Known extends KnownSessions {
  readonly call?: About;
}

type NewsOf<Kind extends EventKind> = (event: Extract<Event, { kind: Kind }>, known: Known) => Line | null;

/** Describes an event of a mock or of an agent session on one line; null if there is nothing to report. */
export function newsOf(event: Event, known: Known): Line | null {
  const tell = NEWS[event.kind] as NewsOf<EventKind> | null;
  return tell?.(event, known) ?? null;
}

/** Puts the name of the call before the text. */
function about(call: About, mark: Mark, words: Line): Line {
  return withMark(mark, call ? line`${callName(call)} ${words}` : words);
}

const PLANS: Readonly<Record<string, Line>> = {
  'rate-limit': [say('is over the rate limit', 'warn')],
  demand: [say('waiting: send it with POST /__mock__/fire', 'warn')],
  silence: [say('gets no result (planned)')],
  message: [say('gets a message as it is in the fixture (planned)')],
};

const NEWS: { readonly [Kind in EventKind]: NewsOf<Kind> | null } = {
  request(event, { call, sessions }) {
    if (sessions) return null;
    if (event.purpose !== 'invocation') return noticeNews(event, call);
    return call && call.arrivals > 1
      ? about(call, 'aside', line`received again (${call.arrivals} times)`)
      : null;
  },
  response: endNews,
  broken: endNews,
  matched({ fixture }, { call }) {
    // If nothing matched, a warning has already given the reason.
    if (!call || (fixture === null && call.warnings.length > 0)) return null;
    return about(call, 'received', [say('answered by ', 'dim'), ...answeredBy(call)]);
  },
  planned: ({ by, plan }, { call }) =>
    about(call, 'aside', PLANS[plan] ?? [say(`${by}: `, 'dim'), ...quote(plan, 'warn')]),
  warned: ({ message }, { call }) => about(call, 'warning', foreign(message, call, 'warn')),
  dropped({ what, why, count, leg, type }, { call }) {
    const delivery = call && leg !== undefined ? deliveryOf(call, leg) : undefined;
    const name = type ?? (delivery && typeOfDelivery(delivery)) ?? what;
    const many = count === 1 ? '' : `${count} times `;
    return about(call, 'failed', line`${name} ${many}not delivered: ${foreign(why, call, 'bad')}`);
  },
  decided: (event, { call, sessions }) =>
    !sessions && (event.what === 'choice' || event.what === 'consent')
      ? about(call, 'done', decisionWords(event, call))
      : null,
  expired({ what, afterMs, calls }, { call, sessions }) {
    const within = afterMs > 0 ? ` within ${formatDuration(afterMs)}` : '';
    if (what === 'answer' && !sessions) return about(call, 'aside', [say(`no answer${within}`, 'warn')]);
    const isOfSession = what === 'timeout' && !calls;
    return isOfSession ? withMark('failed', [say(`no news for ${formatDuration(afterMs)}`, 'bad')]) : null;
  },
  shaped({ by, changes }, { call, sessions }) {
    if (sessions || by === 'verbatim' || changes.length === 0) return null;
    const list = changes.map(({ path, change }) => `${change} ${path}`).join(', ');
    return about(call, 'aside', line`${say('middleware ', 'dim')}${list}`);
  },
  driver({ from, body, ended }, { sessions }) {
    const text = clipped(ended ?? body?.text ?? '', 'plain', MAX);
    return sessions ? null : withMark('aside', line`${say(`driver ${DRIVER_ARROWS[from]}`, 'dim')} ${text}`);
  },
  exited: null,
  session: sessionNews,
  awaiting: sessionNews,
  answered: sessionNews,
  loaded: null,
  expected: null,
  denied: null,
};

/** Errors may quote a callback URL (threats, row 25). */
function foreign(text: string, call: About, tone: Tone): Line {
  return clipped(call ? secretsOf(call).text(text) : text, tone, MAX);
}

/** Describes the notices of a runtime; null for other requests. */
function noticeNews({ purpose, thread }: RequestEvent, call: About): Line | null {
  const name = thread === undefined ? 'a thread' : line`thread ${clipped(thread, 'title')}`;
  if (purpose === 'cancel')
    return about(call, 'aside', call ? line`was canceled` : line`${name} cancels an unknown call`);
  if (purpose === 'close') return withMark('aside', line`${name} was closed`);
  return purpose === 'migrate' ? withMark('aside', line`${name} was migrated`) : null;
}

type EndEvent = Extract<Event, { kind: 'response' | 'broken' }>;

/** The result of a callback delivery, or of an invocation that was not acknowledged with 200. */
function endNews(event: EndEvent, known: Known): Line | null {
  if (known.sessions) return sessionNews(event, known);
  const { call } = known;
  if (!call) return null;
  if (event.leg === call.acknowledgement.leg) return acknowledgementNews(event, call);
  const delivery = deliveryOf(call, event.leg);
  const index = delivery?.attempts.findIndex(({ leg }) => leg === event.leg) ?? -1;
  const attempt = delivery?.attempts[index];
  if (!delivery || !attempt) {
    if (event.kind === 'broken' || event.status < 400) return null;
    return about(call, 'failed', [say(`a request about it was refused with ${event.status}`, 'warn')]);
  }
  const { at, endedAt = at, status = 500 } = attempt;
  const type = typeOfDelivery(delivery) ?? 'callback';
  const time = took(endedAt - at, 'in');
  if (isAccepted(attempt))
    return about(call, 'done', line`${type} delivered${index > 0 && ` at attempt ${index + 1}`}${time}`);
  if (status < 500) return null; // final, so it is reported as dropped
  const failed = say(` attempt ${index + 1} failed: ${faultOf(attempt)}`, 'warn');
  return about(call, 'aside', line`${type}${failed}${time}`);
}

function deliveryOf(call: ToolCall, leg: string): CallbackDelivery | undefined {
  return call.deliveries.findLast(({ attempts }) => attempts.some(each => each.leg === leg));
}

function acknowledgementNews(event: EndEvent, call: ToolCall): Line | null {
  if (call.isDirect) {
    const time = took(event.at - call.receivedAt);
    if (event.kind === 'response') return about(call, 'done', line`answered${time}`);
    // An intentional missing answer was reported before.
    return call.isSilent
      ? null
      : about(call, 'aside', line`got no answer: ${quote(event.code, 'warn')}${time}`);
  }
  if (event.kind === 'broken') return about(call, 'aside', [say('was not acknowledged (planned)', 'warn')]);
  return event.status === 200
    ? null
    : about(call, 'failed', [say(`was refused with ${event.status}`, 'bad')]);
}

/** A call as people see it. */
export class ToolCallView {
  constructor(private readonly call: ToolCall) {}

  get name(): Line {
    return callName(this.call);
  }

  get secrets(): Redactor {
    return secretsOf(this.call);
  }

  row(now: number, isSelected = false) {
    const { addressee, invocation, receivedAt } = this.call;
    const { id = '', group_id = '' } = addressee ?? {};
    return viewOf(stateOf(this.call, now), {
      time: timeCell(receivedAt),
      operation: invocation
        ? clipped(invocation.operation, isSelected ? 'title' : 'plain')
        : [say('malformed', 'bad')],
      args: invocation ? argsCell(invocation.arguments, this.secrets) : [],
      id: idCell(id),
      thread: idCell(group_id),
      answeredBy: answeredBy(this.call),
    });
  }

  /** The invocation, and each callback with its message. */
  details(): Line[] {
    const { deliveries, dropped, forgotten } = this.call;
    const { secrets } = this;
    return [
      ...receivedLines(this.call, secrets),
      ...(forgotten > 0 ? [[], [say(`${forgotten} earlier callbacks were dropped`, 'dim')]] : []),
      ...deliveries.flatMap(delivery => [[], ...deliveryLines(delivery, secrets)]),
      ...(dropped.length > 0 ? [[]] : []),
      ...dropped.map(
        (why): Line => line`${say('✗ not delivered: ', 'bad')}${foreign(why, this.call, 'bad')}`,
      ),
    ];
  }
}

function receivedLines(call: ToolCall, secrets: Redactor): Line[] {
  const { invocation, addressee, warnings, decisions, plans } = call;
  const values = {
    call_id: invocation?.call_id,
    ancestors: invocation?.thread_ancestors?.join(', '),
    user: invocation?.user_id,
    // Anyone who has the path can act as the tool (threats, row 25).
    callback:
      addressee &&
      (URL.canParse(addressee.callback_url) ? `${new URL(addressee.callback_url).origin}/…` : '(not a URL)'),
  };
  return [
    callName(call),
    ...Object.entries(values).flatMap(([label, value]) =>
      value ? [labelled(label, ...clipped(value, 'plain', MAX))] : [],
    ),
    labelled('received', ...arrivalWords(call)),
    labelled('answer', ...answerWords(call)),
    ...waitLines(call, secrets),
    ...plans.map(plan => labelled('planned', ...quote(plan, 'warn'))),
    ...decisions.map(decision => labelled('decided', ...decisionWords(decision, call))),
    ...warnings.map(warning => labelled('warning', ...foreign(warning, call, 'warn'))),
    ...(invocation
      ? [[], [say('ARGUMENTS', 'title')], ...jsonLines(secrets.text(JSON.stringify(invocation.arguments)))]
      : []),
  ];
}

function arrivalWords({ receivedAt, acknowledgement, arrivals }: ToolCall): Line {
  const { status, at = receivedAt } = acknowledgement;
  const tone: Tone = status === 200 ? 'plain' : 'warn';
  const answer = say(status === undefined ? ' not acknowledged' : ` answered ${status}`, tone);
  const again = arrivals > 1 && say(`, received ${arrivals}×, last`);
  return line`at ${elapsed(receivedAt)}${again}${answer}${arrivals === 1 && status !== undefined && took(at - receivedAt, 'in')}`;
}

/** The source of a call's answer; if no fixture matches, the nearest one and the difference. */
function answerWords(call: ToolCall): Line {
  const words = answeredBy(call);
  if (!call.nearest) return words.length > 0 ? words : [say('not decided yet', 'dim')];
  const { fixture, path, reason } = call.nearest;
  return line`${words}; nearest: ${quote(fixture, 'title')}, differs at ${quote(path, 'title')}: ${clipped(reason, 'plain', MAX)}`;
}

/** What the user can do for a waiting call, or where. */
function waitLines(call: ToolCall, secrets: Redactor): Line[] {
  const { awaits } = call;
  const question = questionOf(call);
  if (awaits === null) return [];
  if (awaits === 'fire') return [labelled('waits', say('press f to send it', 'warn'))];
  if (awaits === 'consent')
    return [
      labelled('waits', say('for consent: press f to grant it, or decide at', 'warn')),
      // On its own row without indent, so that it can be copied.
      clipped(textOf(question, 'auth_url'), 'running', MAX),
    ];
  const preset = choiceOf(question, question['default'] ?? 0) ?? '';
  const choice = clipped(secrets.text(preset), 'title', MAX);
  return [labelled('waits', say('for a choice: press f for ', 'warn'), ...choice)];
}

/** A callback: its type, its delivery attempts, its message. */
function deliveryLines(delivery: CallbackDelivery, secrets: Redactor): Line[] {
  const { attempts, body } = delivery;
  const type = quote(typeOfDelivery(delivery)?.toUpperCase() ?? 'NO MESSAGE', 'title');
  const tone: Tone = isDelivered(delivery) || attempts.length === 0 ? 'dim' : 'warn';
  const [only] = attempts;
  const heading =
    only && attempts.length === 1
      ? [line`${type} ${attemptWords(only)}`]
      : [
          line`${type} ${say(pluralize(attempts.length, 'attempt'), tone)}`,
          ...attempts.map(attempt => line`  ${attemptWords(attempt)}`),
        ];
  return [...heading, ...messageLines(body, secrets)];
}

function attemptWords(attempt: SentRequest): Line {
  const { at, endedAt, status } = attempt;
  const when = say(` at ${elapsed(at)}`, 'dim');
  if (endedAt === undefined) return [say('… sending', 'running'), when];
  const end = isAccepted(attempt)
    ? [say('✓ ', 'good'), say(`answered ${status}`)]
    : [say('✗ ', 'bad'), say(faultOf(attempt), 'bad')];
  return [...end, took(endedAt - at, 'in'), when];
}

function messageLines(body: Body | null, secrets: Redactor): Line[] {
  if (!body) return [[say('(not kept)', 'dim')]];
  const text = decodeUtf8(body.bytes);
  if (text === null) return [[say(`(${bytesText(body.size)} that are not UTF-8)`, 'dim')]];
  return jsonLines(secrets.text(text));
}
