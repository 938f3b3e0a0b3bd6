import type { Content } from '../events/content.js';
import type { Event } from '../events/events.js';
import {
  type CallbackDelivery,
  type DeliveryAttempt,
  isDelivered,
  type ToolCall,
  typeOfDelivery,
} from '../events/tool-call.js';
import { formatDuration } from '../util/format-duration.js';
import { decodeUtf8 } from '../util/json.js';
import { bytesText } from '../util/json-diagnosis.js';
import { prettyJson } from '../util/json-pretty.js';
import type { Redactor } from '../util/redact.js';
import {
  callName,
  clipped,
  type Line,
  operationOf,
  quote,
  type Span,
  say,
  type Tone,
  textLines,
} from './line.js';
import {
  callState,
  decidedBy,
  decidedLabel,
  faultOf,
  isTaken,
  questionOf,
  secretsOf,
} from './tool-calls/call-state.js';

/** Of one message: nobody reads on in a list of calls, and each one is laid out. */
const MAX_LINES = 500;

/** A message as its bytes say it, indented where it is JSON; without the secrets of callback URLs. */
function bodyLines(body: Content | null, secrets: Redactor): Line[] {
  if (!body) return [[say('(not kept)', 'dim')]];
  const text = decodeUtf8(body.bytes);
  return text === null
    ? [[say(`(${bytesText(body.size)} that are not UTF-8)`, 'dim')]]
    : jsonLines(text, secrets);
}

/** The same for a text. */
export function jsonLines(text: string, secrets: Redactor): Line[] {
  const clean = secrets.text(text);
  const { lines, total } = textLines(prettyJson(clean) ?? clean, MAX_LINES);
  const more = total - lines.length;
  const indented = lines.map(hanging);
  return more > 0 ? [...indented, [say(`… ${more} more lines`, 'dim')]] : indented;
}

/** Where a line is wrapped, its rows keep its indent. */
function hanging(line: Line): Line {
  const [first, ...rest] = line;
  const [indent = ''] = /^ */.exec(first?.text ?? '') ?? [];
  if (!first || indent === '') return line;
  return [say(indent, 'gutter'), { ...first, text: first.text.slice(indent.length) }, ...rest];
}

/** Time since the start for the margin of a list or a log: `0:01.2`, `12:03.4`, `1:02:03.4`. */
export function elapsed(milliseconds: number): string {
  const tenths = Math.floor(milliseconds / 100);
  const [hours, minutes, seconds] = [tenths / 36_000, (tenths / 600) % 60, (tenths / 10) % 60].map(
    Math.floor,
  );
  const rest = `${two(seconds)}.${tenths % 10}`;
  return hours ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
}

function two(number = 0): string {
  return String(number).padStart(2, '0');
}

/** One callback: its type, its attempts, its message. */
function deliveryLines(delivery: CallbackDelivery, secrets: Redactor): Line[] {
  const { attempts, body } = delivery;
  const type = typeOfDelivery(delivery)?.toUpperCase() ?? 'NO MESSAGE';
  const [only] = attempts;
  const heading: Line = [...quote(type, 'title'), say(' ')];
  const message = bodyLines(body, secrets);
  if (attempts.length === 1 && only) return [[...heading, ...attemptSpans(only)], ...message];
  const sum = say(
    `${attempts.length} attempts`,
    isDelivered(delivery) || attempts.length === 0 ? 'dim' : 'warn',
  );
  return [
    [...heading, sum],
    ...attempts.map((attempt): Line => [say('  '), ...attemptSpans(attempt)]),
    ...message,
  ];
}

function attemptSpans(attempt: DeliveryAttempt): Span[] {
  const { at, endedAt, status } = attempt;
  const when = say(` at ${elapsed(at)}`, 'dim');
  if (endedAt === undefined) return [say('… sending', 'running'), when];
  const took = say(` in ${formatDuration(endedAt - at)}`, 'dim');
  if (isTaken(status)) return [say('✓ ', 'good'), say(`answered ${status}`), took, when];
  return [say('✗ ', 'bad'), say(faultOf(attempt), 'bad'), took, when];
}

/** Which fixture or handler answers a call; why none does; nothing where that is not known yet. */
export function answeredBy({ answeredBy, plans, warnings }: ToolCall): Line {
  if (answeredBy !== null) return quote(answeredBy);
  if (plans.includes('rate-limit')) return [say('over the rate limit', 'warn')];
  if (plans.some(plan => plan.startsWith('ack '))) return [say('a fault', 'warn')];
  return warnings.length > 0 ? [say('no fixture', 'warn')] : [];
}

const LABEL = 10;
/** Characters of one value. */
const MOST = 2_000;

export function labelled(label: string, ...line: Line): Line {
  return [say(label.padEnd(LABEL), 'gutter'), ...line];
}

/** Whoever has a callback URL can speak into a conversation: where it leads is enough to know (threats, row 25). */
export function withoutPath(url: string): string {
  return URL.canParse(url) ? `${new URL(url).origin}/…` : '(not a URL)';
}

/** What somebody has to do before the call goes on, and where; nothing where it waits for nobody. */
function waitLines(call: ToolCall, secrets: Redactor): Line[] {
  switch (call.awaits) {
    case 'fire':
      return [labelled('waits', say('press e to send it', 'warn'))];
    case 'choice':
      return choiceLines(call, secrets);
    case 'consent':
      return consentLines(call);
    default:
      return [];
  }
}

/** The response URL is the runtime's, and a secret: where it leads is enough to know. */
function choiceLines(call: ToolCall, secrets: Redactor): Line[] {
  const { choices, preset, responseUrl } = questionOf(call);
  const answer = JSON.stringify({ id: call.addressee?.id, selected: preset });
  const label = secrets.text(choices[preset] ?? '');
  return [
    labelled('waits', say('for a choice: press e for ', 'warn'), ...clipped(label, 'title', MOST)),
    labelled('', say('or the runtime posts, such as '), ...clipped(answer, 'plain', MOST)),
    labelled('', say('to its response_url, '), ...clipped(withoutPath(responseUrl), 'plain', MOST)),
  ];
}

/** The address on a row of its own, from its first cell on, so that it can be copied: it is for the person in front of the screen. */
function consentLines(call: ToolCall): Line[] {
  return [
    labelled('waits', say('for consent: press e to grant it, or decide at', 'warn')),
    clipped(questionOf(call).authUrl, 'running', MOST),
  ];
}

/** What came, who answers it, and what there is to be warned of. */
function invocationLines(call: ToolCall, secrets: Redactor): Line[] {
  const { invocation, addressee, warnings, decisions, plans } = call;
  const { call_id, user_id, thread_ancestors } = invocation ?? {};
  const ids: readonly (readonly [string, string | null | undefined])[] = [
    ['call_id', call_id],
    ['ancestors', thread_ancestors?.join(', ')],
    ['user', user_id],
    ['callback', addressee && withoutPath(addressee.callback_url)],
  ];
  return [
    callName(call),
    ...ids.flatMap(([label, value]) => (value ? [labelled(label, ...clipped(value, 'plain', MOST))] : [])),
    labelled('received', ...received(call)),
    labelled('answer', ...(answer(call).length > 0 ? answer(call) : [say('not decided yet', 'dim')])),
    ...waitLines(call, secrets),
    ...plans.map(plan => labelled('planned', ...quote(plan, 'warn'))),
    ...decisions.map(decision =>
      labelled(
        'decided',
        say(`${decision.what} `),
        ...clipped(decidedLabel(decision, call), 'title'),
        say(` ${decidedBy(decision)}`, 'dim'),
      ),
    ),
    ...warnings.map(warning => labelled('warning', ...clipped(secrets.text(warning), 'warn', MOST))),
    ...(invocation ? argumentLines(invocation.arguments, secrets) : []),
  ];
}

function argumentLines(args: Readonly<Record<string, unknown>>, secrets: Redactor): Line[] {
  return [[], [say('ARGUMENTS', 'title')], ...jsonLines(JSON.stringify(args), secrets)];
}

function received({ receivedAt, acknowledgement, arrivals }: ToolCall): Span[] {
  const { status, at = receivedAt } = acknowledgement;
  const again = arrivals > 1 ? `, received ${arrivals}×, last` : '';
  const took = arrivals > 1 ? '' : ` in ${formatDuration(at - receivedAt)}`;
  return [
    say(`at ${elapsed(receivedAt)}${again}`),
    status === undefined
      ? say(' not acknowledged', 'warn')
      : say(` answered ${status}`, status === 200 ? 'plain' : 'warn'),
    say(status === undefined ? '' : took, 'dim'),
  ];
}

/** The nearest fixture and where it differs tell what to change. */
function answer(call: ToolCall): Line {
  const { nearest } = call;
  if (!nearest) return answeredBy(call);
  const { fixture, path, reason } = nearest;
  return [
    ...answeredBy(call),
    say('; nearest: '),
    ...quote(fixture, 'title'),
    say(', differs at '),
    ...quote(path, 'title'),
    say(': '),
    ...clipped(reason, 'plain', MOST),
  ];
}

/** What happened so far, in numbers: of all calls, remembered or not. */
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
    say(`${calls} ${calls === 1 ? 'call' : 'calls'}`, 'dim'),
    ...found(unmatched, 'unmatched', 'warn'),
    ...found(undelivered, 'undelivered', 'bad'),
  ];
}

/** One call in a list, cell by cell. */
export interface CallRow {
  readonly mark: Span;
  readonly cells: Readonly<Record<CallColumn, Line>>;
  readonly isRunning: boolean;
}

export type CallColumn = 'time' | 'operation' | 'id' | 'thread' | 'answeredBy' | 'state';

/**
 * @param now ms since the start
 * @param isPaused deliveries are held back
 */
export function callRow(call: ToolCall, now: number, isSelected = false, isPaused = false): CallRow {
  const { id = '', group_id = '' } = call.addressee ?? {};
  const { mark, line, isRunning } = callState(call, now, isPaused);
  return {
    mark,
    isRunning,
    cells: {
      time: [say(elapsed(call.receivedAt).padStart(7), 'dim')],
      operation: operationOf(call, isSelected ? 'title' : 'plain'),
      id: clipped(id, 'dim'),
      thread: clipped(group_id, 'dim'),
      answeredBy: answeredBy(call),
      state: line,
    },
  };
}

/** Everything about one call: what came, and each callback with its message. Depends on nothing but the call. */
export function detailLines(call: ToolCall): Line[] {
  const { deliveries, dropped, forgotten } = call;
  const secrets = secretsOf(call);
  return [
    ...invocationLines(call, secrets),
    ...(forgotten > 0 ? [[], [say(`${forgotten} earlier callbacks were dropped`, 'dim')]] : []),
    ...deliveries.flatMap(delivery => [[], ...deliveryLines(delivery, secrets)]),
    ...(dropped.length > 0 ? [[]] : []),
    ...dropped.map(
      (why): Line => [say('✗ not delivered: ', 'bad'), ...clipped(secrets.text(why), 'bad', 2_000)],
    ),
  ];
}
