import type { Body, EventOf } from '../events/events.js';
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
import { bytesText, decodeUtf8 } from '../util/text.js';
import { isRecord } from '../util/values.js';
import { argsCell, type CallState, idCell, jsonLines, shortId, timeCell, viewOf } from './calls.js';
import {
  clipped,
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
} from './line.js';

/*
 * Calls as a mock tool saw them: list rows, and details of a call. URLs that grant access to a conversation are left out (threats,
 * row 25).
 */

/** Maximum length of a value, in characters. */
const MAX = 2_000;

/** The secrets of a call: a callback URL grants the tool's rights, a response URL the user's. */
export function secretsOfCall({ addressee, deliveries }: ToolCall): Redactor {
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
export function callName({ invocation, addressee }: ToolCall): Line {
  const { id = '', group_id = '' } = addressee ?? {};
  return [
    ...(invocation ? clipped(invocation.operation, 'title') : [say('a call', 'title')]),
    ...(id ? line` ${shortId(id)}` : []),
    ...(group_id ? [say(' (', 'dim'), ...clipped(shortId(group_id), 'dim'), say(')', 'dim')] : []),
  ];
}

/** The fixture or handler that answers a call, or why none does; empty if unknown. */
export function answeredBy({ answeredBy, plans, warnings }: ToolCall): Line {
  if (answeredBy !== null) return quote(answeredBy);
  if (plans.includes('rate-limit')) return [say('over the rate limit', 'warn')];
  if (plans.some(plan => plan.startsWith('ack '))) return [say('a fault', 'warn')];
  return warnings.length > 0 ? [say('no fixture', 'warn')] : [];
}

/** The id of a fixture without the folders of its file: they would hide the line in a narrow column. */
function shortPlace(id: string): string {
  return id.replace(/^.*[\\/](?=[^\\/]+(?::\d+|#\d+)$)/, '');
}

/** Why the delivery of a callback failed. */
export function faultOf({ status, broken = 'broken' }: SentRequest): string {
  return status === undefined ? broken : `answered ${status}`;
}

/** The row of a call in a list. */
export function toolCallRow(call: ToolCall, now: number, isSelected = false) {
  const { addressee, invocation, receivedAt } = call;
  const { id = '', group_id = '' } = addressee ?? {};
  return viewOf(stateOf(call, now), {
    time: timeCell(receivedAt),
    operation: invocation
      ? clipped(invocation.operation, isSelected ? 'title' : 'plain')
      : [say('malformed', 'bad')],
    args: invocation ? argsCell(invocation.arguments, secretsOfCall(call)) : [],
    id: idCell(id),
    thread: idCell(group_id),
    answeredBy: call.answeredBy === null ? answeredBy(call) : quote(shortPlace(call.answeredBy)),
  });
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
  undelivered: ['failed', call => clipped(secretsOfCall(call).text(call.lost ?? 'not delivered'), 'bad')],
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

/** The invocation, and each callback with its message. */
export function toolCallDetails(call: ToolCall): Line[] {
  const { deliveries, dropped, forgotten } = call;
  const secrets = secretsOfCall(call);
  return [
    ...receivedLines(call, secrets),
    ...(forgotten > 0 ? [[], [say(`${forgotten} earlier callbacks were dropped`, 'dim')]] : []),
    ...deliveries.flatMap(delivery => [[], ...deliveryLines(delivery, secrets)]),
    ...(dropped.length > 0 ? [[]] : []),
    ...dropped.map(
      (why): Line => line`${say('✗ not delivered: ', 'bad')}${withoutSecrets(why, call, 'bad')}`,
    ),
  ];
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
    ...warnings.map(warning => labelled('warning', ...withoutSecrets(warning, call, 'warn'))),
    ...(invocation
      ? [[], [say('ARGUMENTS', 'title')], ...jsonLines(secrets.text(JSON.stringify(invocation.arguments)))]
      : []),
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

type DecidedEvent = EventOf<'decided'>;

/** The decision and who made it; a choice is shown by its label. */
export function decisionWords({ what, value = '', by }: DecidedEvent, call: ToolCall | undefined): Line {
  const label = what === 'choice' ? (choiceOf(questionOf(call), value) ?? value) : value;
  // A mock has no policy: firing a call by hand gives the preset answer. Whether a person or code answered, a mock cannot know.
  const who = by === 'policy' ? 'sent manually' : 'by the client';
  return line`${what} ${clipped(String(label), 'title')} ${say(who, 'dim')}`;
}

/** Errors may quote a callback URL (threats, row 25). */
export function withoutSecrets(text: string, call: ToolCall | undefined, tone: Tone): Line {
  return clipped(call ? secretsOfCall(call).text(text) : text, tone, MAX);
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
