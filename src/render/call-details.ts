import type { Content } from '../events/content.js';
import type { Event } from '../events/events.js';
import { acknowledgedAfter, type Exchange } from '../events/exchange.js';
import type { Session } from '../events/session-calls.js';
import {
  type CallbackDelivery,
  type DeliveryAttempt,
  isDelivered,
  type ToolCall,
  typeOfDelivery,
} from '../events/tool-call.js';
import { prettyJson } from '../util/json-format.js';
import { createRedactor, type Redactor } from '../util/redact.js';
import { bytesText, decodeUtf8, formatDuration } from '../util/text.js';
import { compactJson, foreignWords } from '../util/values.js';
import {
  answeredBy,
  callName,
  decisionWords,
  faultOf,
  isTaken,
  outcomeWords,
  questionOf,
  secretsOf,
  sessionState,
} from './calls.js';
import {
  clipped,
  counted,
  elapsed,
  jsonLine,
  type Line,
  labelled,
  line,
  quote,
  say,
  type Tone,
  textLines,
  took,
} from './line.js';
import { givenOf, type KnownCall } from './session-answers.js';

/** Lines of one message. */
const MAX_LINES = 500;

/** Characters of one value. */
const MOST = 2_000;

/** Everything about a call that a mock received: the invocation, and each callback with its message. */
export function detailLines(call: ToolCall): Line[] {
  const { deliveries, dropped, forgotten } = call;
  const secrets = secretsOf(call);
  return [
    ...receivedLines(call, secrets),
    ...(forgotten > 0 ? [[], [say(`${forgotten} earlier callbacks were dropped`, 'dim')]] : []),
    ...deliveries.flatMap(delivery => [[], ...deliveryLines(delivery, secrets)]),
    ...(dropped.length > 0 ? [[]] : []),
    ...dropped.map(
      (why): Line => [say('✗ not delivered: ', 'bad'), ...clipped(secrets.text(why), 'bad', MOST)],
    ),
  ];
}

function receivedLines(call: ToolCall, secrets: Redactor): Line[] {
  const { invocation, addressee, warnings, decisions, plans } = call;
  const answer = answerWords(call);
  return [
    callName(call),
    ...valueLine('call_id', invocation?.call_id),
    ...valueLine('ancestors', invocation?.thread_ancestors?.join(', ')),
    ...valueLine('user', invocation?.user_id),
    ...valueLine('callback', addressee && withoutPath(addressee.callback_url)),
    labelled('received', ...arrivalWords(call)),
    labelled('answer', ...(answer.length > 0 ? answer : [say('not decided yet', 'dim')])),
    ...waitLines(call, secrets),
    ...plans.map(plan => labelled('planned', ...quote(plan, 'warn'))),
    ...decisions.map(decision => labelled('decided', ...decisionWords(decision, call))),
    ...warnings.map(warning => labelled('warning', ...clipped(secrets.text(warning), 'warn', MOST))),
    ...(invocation
      ? [[], [say('ARGUMENTS', 'title')], ...jsonLines(JSON.stringify(invocation.arguments), secrets)]
      : []),
  ];
}

function valueLine(label: string, value: string | null | undefined): Line[] {
  return value ? [labelled(label, ...clipped(value, 'plain', MOST))] : [];
}

/** The origin of a callback URL: its path lets one speak for the tool (threats, row 25). */
export function withoutPath(url: string): string {
  return URL.canParse(url) ? `${new URL(url).origin}/…` : '(not a URL)';
}

function arrivalWords({ receivedAt, acknowledgement, arrivals }: ToolCall): Line {
  const { status, at = receivedAt } = acknowledgement;
  const tone: Tone = status === 200 ? 'plain' : 'warn';
  const answer = say(status === undefined ? ' not acknowledged' : ` answered ${status}`, tone);
  const again = arrivals > 1 && say(`, received ${arrivals}×, last`);
  return line`at ${elapsed(receivedAt)}${again}${answer}${arrivals === 1 && status !== undefined && took(at - receivedAt, 'in')}`;
}

/** What answers a call; where no fixture does, the nearest one and where it differs. */
function answerWords(call: ToolCall): Line {
  if (!call.nearest) return answeredBy(call);
  const { fixture, path, reason } = call.nearest;
  return line`${answeredBy(call)}; nearest: ${quote(fixture, 'title')}, differs at ${quote(path, 'title')}: ${clipped(reason, 'plain', MOST)}`;
}

/** What the user can do for a call that waits, or where. */
function waitLines(call: ToolCall, secrets: Redactor): Line[] {
  const { awaits, addressee } = call;
  const { choices, preset, responseUrl, authUrl } = questionOf(call);
  if (awaits === null) return [];
  if (awaits === 'fire') return [labelled('waits', say('press e to send it', 'warn'))];
  if (awaits === 'consent')
    return [
      labelled('waits', say('for consent: press e to grant it, or decide at', 'warn')),
      // A row of its own, without indent, so that it can be copied.
      clipped(authUrl, 'running', MOST),
    ];
  const answer = JSON.stringify({ id: addressee?.id, selected: preset });
  const choice = clipped(secrets.text(choices[preset] ?? ''), 'title', MOST);
  return [
    labelled('waits', say('for a choice: press e for ', 'warn'), ...choice),
    labelled('', ...line`or the runtime posts, such as ${clipped(answer, 'plain', MOST)}`),
    labelled('', ...line`to its response_url, ${clipped(withoutPath(responseUrl), 'plain', MOST)}`),
  ];
}

/** One callback: its type, its attempts, its message. */
function deliveryLines(delivery: CallbackDelivery, secrets: Redactor): Line[] {
  const { attempts, body } = delivery;
  const type = quote(typeOfDelivery(delivery)?.toUpperCase() ?? 'NO MESSAGE', 'title');
  const message = messageLines(body, secrets);
  const [only] = attempts;
  if (only && attempts.length === 1) return [line`${type} ${attemptWords(only)}`, ...message];
  const tone: Tone = isDelivered(delivery) || attempts.length === 0 ? 'dim' : 'warn';
  return [
    line`${type} ${say(counted(attempts.length, 'attempt'), tone)}`,
    ...attempts.map(attempt => line`  ${attemptWords(attempt)}`),
    ...message,
  ];
}

function attemptWords(attempt: DeliveryAttempt): Line {
  const { at, endedAt, status } = attempt;
  const when = say(` at ${elapsed(at)}`, 'dim');
  if (endedAt === undefined) return [say('… sending', 'running'), when];
  const end = isTaken(status)
    ? [say('✓ ', 'good'), say(`answered ${status}`)]
    : [say('✗ ', 'bad'), say(faultOf(attempt), 'bad')];
  return [...end, took(endedAt - at, 'in'), when];
}

function messageLines(body: Content | null, secrets: Redactor): Line[] {
  if (!body) return [[say('(not kept)', 'dim')]];
  const text = decodeUtf8(body.bytes);
  if (text === null) return [[say(`(${bytesText(body.size)} that are not UTF-8)`, 'dim')]];
  return jsonLines(text, secrets);
}

/** A text without secrets; JSON is indented, and stays so where a line is wrapped. */
function jsonLines(text: string, secrets: Redactor): Line[] {
  const clean = secrets.text(text);
  const pretty = prettyJson(clean);
  const { lines, total } = textLines(pretty ?? clean, MAX_LINES);
  const more = total - lines.length;
  const indented = lines.map((each): Line => {
    const [first, ...rest] = pretty === null ? each : jsonLine(each);
    const [indent = ''] = /^ */.exec(first?.text ?? '') ?? [];
    if (!first || indent === '') return each;
    return [say(indent, 'gutter'), { ...first, text: first.text.slice(indent.length) }, ...rest];
  });
  return more > 0 ? [...indented, [say(`… ${more} more lines`, 'dim')]] : indented;
}

/** Bodies of session calls have no secrets. */
const NO_SECRETS = createRedactor();

/** A call of an agent session: its ids, and its state at the tool and at the platform. @param now ms since the start */
export function callHead(known: KnownCall, now: number): Line[] {
  const { session, call, exchange } = known;
  const given = givenOf(known);
  return [
    line`${clipped(call.tool, 'title')} ${call.key}`,
    labelled('session', ...clipped(session.id)),
    ...(call.id === null ? [labelled('id', say('null (identified by tool and arguments)', 'dim'))] : []),
    labelled('asked', say(`at ${elapsed(call.askedAt)} in round ${call.round + 1}`)),
    ...(exchange ? [labelled('invoked', ...invoked(exchange))] : []),
    ...(given ? [labelled('outcome', ...outcomeWords(given.outcome))] : []),
    labelled('state', ...sessionState(known, now).line),
    ...(call.answer?.unexpected ?? []).map(words =>
      labelled('expected', say('✗ ', 'bad'), ...clipped(words, 'bad')),
    ),
    ...call.warnings.map(words => labelled('warning', ...clipped(words, 'warn'))),
    ...(call.posts > 1 ? [labelled('posted', say(`${call.posts} times`))] : []),
  ];
}

function invoked(exchange: Exchange): Line {
  const after = acknowledgedAfter(exchange);
  const [first] = exchange.attempts;
  if (!first) return [say('not sent', 'warn')];
  return line`at ${elapsed(first.sentAt)}${after !== null && say(`, acknowledged after ${formatDuration(after)}`, 'dim')}`;
}

/** The arguments of a session's call, and what the model gets. */
export function callBodies(known: KnownCall): Line[] {
  const given = givenOf(known);
  return [
    [],
    [say('ARGUMENTS', 'title')],
    ...jsonLines(compactJson(known.call.args) ?? 'none', NO_SECRETS),
    ...(given ? [[], [say('LLM', 'title')], ...jsonLines(given.text ?? '(not kept)', NO_SECRETS)] : []),
  ];
}

/** The whole answer of an agent under a heading; nothing where it has none. */
export function finalLines({ answer }: Pick<Session, 'answer'>): Line[] {
  if (answer === null) return [];
  const text = foreignWords(answer.value);
  const { lines } = textLines(prettyJson(text) ?? text, Number.POSITIVE_INFINITY);
  return [[say('ANSWER', 'title')], ...lines];
}

/** What happened to a mock so far: of all calls, also of those that it no longer remembers. */
export interface Tally {
  readonly calls: number;
  readonly unmatched: number;
  readonly undelivered: number;
}

export const NO_CALLS: Tally = { calls: 0, unmatched: 0, undelivered: 0 };

export function stepTally(tally: Tally, event: Event): Tally {
  if (event.kind === 'request' && event.purpose === 'invocation' && event.attempt === 1)
    return { ...tally, calls: tally.calls + 1 };
  if (event.kind === 'matched' && event.fixture === null) return { ...tally, unmatched: tally.unmatched + 1 };
  if (event.kind === 'dropped' && event.what === 'callback')
    return { ...tally, undelivered: tally.undelivered + event.count };
  return tally;
}

/** `12 calls · 1 unmatched · 2 undelivered` */
export function tallyLine({ calls, unmatched, undelivered }: Tally): Line {
  const found = (count: number, what: string, tone: Tone) =>
    count > 0 ? [say(' · ', 'dim'), say(`${count} ${what}`, tone)] : [];
  return [
    say(counted(calls, 'call'), 'dim'),
    ...found(unmatched, 'unmatched', 'warn'),
    ...found(undelivered, 'undelivered', 'bad'),
  ];
}
