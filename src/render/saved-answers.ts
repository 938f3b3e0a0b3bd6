import type { Feature, SoundReading } from '../dialects/dialect.js';
import { urlSecrets } from '../events/shareable.js';
import type { Callback, OAuth, SubscriptionEvent, ToolRequest, UserChoice } from '../protocol/callbacks.js';
import type { JudgedOutcome } from '../protocol/outcome.js';
import type { Invocation } from '../protocol/read-invocation.js';
import type { Warning } from '../protocol/requirements.js';
import {
  ACTIVE_STATE_CHANGE,
  activeStateSchema,
  type Changes,
  type SessionEvent,
} from '../protocol/session.js';
import { cut } from '../util/json-diagnosis.js';
import { prettyJson } from '../util/json-pretty.js';
import { bareUrl } from '../util/redact.js';
import { safeJson } from '../util/redact-json.js';
import { withoutPath } from './call-details.js';
import { basisWords } from './given-up.js';
import { type Line, labelled, quote, say, type Tone, textLines } from './line.js';
import { questionLines } from './step-arrivals.js';

/** What a message says of the call and the thread that it belongs to. */
interface CallIds {
  readonly id?: string | undefined;
  readonly call_id?: string | null | undefined;
  readonly group_id?: string | undefined;
}

/** A heading: what it is, of which call, in which thread. */
export function callHeading(what: string, { id, call_id, group_id }: CallIds): Line {
  return [
    ...quote(what, 'title'),
    ...(id === undefined ? [] : [say(' of call ', 'dim'), ...quote(id)]),
    ...(call_id ? [say(' (call_id ', 'dim'), ...quote(call_id), say(')', 'dim')] : []),
    ...(group_id === undefined ? [] : [say(' in thread ', 'dim'), ...quote(group_id)]),
  ];
}

/** Of what stands beside the payload, at most this many lines for each part. */
const MOST_LINES = 40;
/** Characters; all of it is in the pane. */
const LONGEST_WORD = 300;

/** An answer of a tool by itself: which call it is for, and how that ended, with the basis on which it stands. */
export function answerLines(what: string, { answer }: SoundReading): Line[] {
  const { id, tool } = answer.call;
  const heading = callHeading(what, id === null ? {} : { id });
  const named = tool === undefined ? [] : [say(' by ', 'dim'), ...quote(tool)];
  return [[...heading, ...named], ...outcomeLines(answer.outcome)];
}

/** An outcome with its members, a line for each. */
export function outcomeLines({ type, basis, ...members }: JudgedOutcome): Line[] {
  const [mark, tone] = type === 'success' ? (['✓ ', 'good'] as const) : (['✗ ', 'bad'] as const);
  const said = Object.entries(members).filter(([, value]) => value !== undefined);
  return [
    [say(mark, tone), say('outcome '), say(type, outcomeTone(type)), say(` (${basisWords(basis)})`, 'dim')],
    ...said.map(
      ([name, value]): Line => [say(`    ${NAMES[name] ?? name}  `, 'dim'), ...quote(wordOf(value))],
    ),
  ];
}

const outcomeTone = (type: JudgedOutcome['type']): Tone => (type === 'success' ? 'good' : 'bad');

const NAMES: Readonly<Record<string, string>> = { errorType: 'type', durationMs: 'duration in ms' };

const TITLES: Readonly<Partial<Record<Feature, string>>> = {
  meta: 'META',
  'other fields': 'OTHER FIELDS',
};

/** What an answer says that no pane shows, as JSON for the eye. */
export function besideLines({ answer: { beside = {} } }: SoundReading): Line[] {
  return Object.entries(TITLES).flatMap(([feature, title]) => {
    const value = Object.entries(beside).find(([each]) => each === feature)?.[1];
    return value === undefined ? [] : jsonLines(title, value);
  });
}

/** A title, and below it JSON, of which no more is shown than a person reads. */
export function jsonLines(title: string, value: unknown): Line[] {
  const { lines, total } = textLines(safeJson(value, 2), MOST_LINES);
  const rest = total - lines.length;
  return [[say(title, 'title')], ...lines, ...(rest > 0 ? [[say(`… ${rest} more lines`, 'dim')]] : [])];
}

function wordOf(value: unknown): string {
  return cut(typeof value === 'string' ? value : safeJson(value), LONGEST_WORD);
}

/** An invocation by itself: what is asked for, by whom, with which arguments. @param isPrivate whether only the user sees it, and with it the token of its callback URL */
export function invocationLines(invocation: Invocation, isPrivate: boolean): Line[] {
  const { operation, call_id, thread_ancestors, user_id, callback_url } = invocation;
  const ids: readonly (readonly [string, string | null | undefined])[] = [
    ['call_id', call_id],
    ['ancestors', thread_ancestors?.join(' → ')],
    ['user', user_id],
    ['callback', isPrivate ? callback_url : withoutPath(callback_url)],
  ];
  return [
    callHeading(operation, { id: invocation.id, group_id: invocation.group_id }),
    ...ids.flatMap(([label, value]) => (value ? [labelled(label, ...quote(value))] : [])),
    [],
    [say('ARGUMENTS', 'title')],
    ...argumentLines(invocation, isPrivate),
  ];
}

/** Secrets of an invocation, for whatever else is told of it. */
export function invocationSecrets({ callback_url, id, group_id, call_id }: Invocation) {
  return urlSecrets([callback_url], [id, group_id, call_id ?? '']);
}

function argumentLines(invocation: Invocation, isPrivate: boolean): readonly Line[] {
  const written = JSON.stringify(invocation.arguments);
  const text = isPrivate ? written : invocationSecrets(invocation).text(written);
  return textLines(prettyJson(text) ?? text, Number.POSITIVE_INFINITY).lines;
}

/** Rows that follow are indented up to here. */
const HANGING = say('', 'gutter');

/** Why there is no result. */
interface Problem {
  readonly message: string;
  readonly hint?: string | undefined;
  readonly faults?: readonly string[] | undefined;
}

/** What there is to be warned of, and why there is no result; nothing where all is well. */
export function problemLines(
  warnings: readonly Warning[],
  failure: Problem | null = null,
  title = 'PROBLEMS',
): Line[] {
  if (warnings.length === 0 && !failure) return [];
  return [
    [say(title, 'title')],
    ...(failure ? failureLines(failure) : []),
    ...warnings.map(({ id, message }): Line => {
      const about = id ? [say(` [${id}]`, 'dim')] : [];
      return [say('! ', 'warn'), HANGING, ...quote(message), ...about];
    }),
  ];
}

function failureLines({ message, hint, faults = [] }: Problem): Line[] {
  const advice: Line[] = hint === undefined ? [] : [[say('  ', 'gutter'), ...quote(hint, 'dim')]];
  const told = faults.map((fault): Line => [say('    ', 'gutter'), ...quote(fault)]);
  return [[say('✗ ', 'bad'), HANGING, ...quote(message)], ...told, ...advice];
}

/** A callback in lines, but for what its panes show. @param isPrivate whether only the user sees it, to whom alone URLs that give power are shown whole (RT-OAUTH) */
export function messageLines(message: Callback, isPrivate: boolean): Line[] {
  switch (message.type) {
    case 'tool_result':
      return [callHeading(message.type, message), ...(message.subscription ? [SUBSCRIBED] : [])];
    case 'oauth':
      return [callHeading(message.type, message), ...consentLines(message, isPrivate)];
    case 'user_choice':
      return [callHeading(message.type, message), ...choiceLines(message, isPrivate)];
    case 'subscription_event':
      return [callHeading(message.type, { ...message, id: message.tool_call_id }), placementLine(message)];
    case 'view_update':
      return [callHeading(message.type, message), ...(isCleared(message.content) ? [CLEARED] : [])];
  }
}

const SUBSCRIBED: Line = [say('• ', 'warn'), say('opens a subscription; events follow')];
const CLEARED: Line = [say('• ', 'warn'), say('content is empty; the view is cleared')];

/** Whether a view is taken away by this content (RT-VIEW). */
export function isCleared(content: object): boolean {
  return Object.keys(content).length === 0;
}

function consentLines({ auth_url }: OAuth, isPrivate: boolean): Line[] {
  const url = isPrivate ? auth_url : bareUrl(auth_url);
  return [
    [say('• ', 'warn'), say('visit '), ...quote(url, 'title'), say(' to continue; the call stays pending')],
    ...(url === auth_url ? [] : [[say('  the query is shown only on a terminal', 'dim')]]),
  ];
}

function choiceLines(question: UserChoice, isPrivate: boolean): Line[] {
  const { response_url } = question;
  const url = isPrivate ? response_url : withoutPath(response_url);
  return [
    ...questionLines(question).map(
      (line, index): Line => [index === 0 ? say('• ', 'warn') : say('  ', 'gutter'), ...line],
    ),
    [say('  the selection goes to ', 'dim'), ...quote(url, 'dim')],
  ];
}

function placementLine({ associative, final, group_id }: SubscriptionEvent): Line {
  const where = associative ? 'goes to thread ' : 'goes to a child thread of ';
  const end = final ? '; last event' : '';
  return [say('• ', 'warn'), say(where), ...quote(group_id), say(` as a call of receive_event${end}`)];
}

/** Of a session that has very many; the last ones tell where it stands. */
const MOST_EVENTS = 50;
const LONGEST = 200;

/** What is new in an agent session, in parts: how it stands, its events, the calls that it waits for, what it said in the end. */
export function changesLines(changes: Changes): (readonly Line[])[] {
  return [
    statusLines(changes),
    eventLines(changes.new_events ?? []),
    pendingLines(changes),
    answerPart(changes),
  ];
}

/** The calls that it waits for: the latest event that says so counts. Null where none does. */
export function pendingIn({ new_events = [] }: Changes): readonly ToolRequest[] | null {
  const latest = new_events.findLast(({ type }) => type === ACTIVE_STATE_CHANGE);
  const state = latest && activeStateSchema.safeParse(latest.data);
  return state?.success ? (state.data.pending_tool_calls ?? []) : null;
}

function statusLines({ status, started_at, finished_at, error }: Changes): Line[] {
  return [
    [say('session ', 'title'), ...quote(status, 'title')],
    ...timeLine('started', started_at),
    ...timeLine('finished', finished_at),
    ...(error ? [[say('✗ ', 'bad'), ...quote(cut(error, LONGEST))]] : []),
  ];
}

function timeLine(what: string, time: string | null | undefined): Line[] {
  return time ? [[say(`${what} `, 'dim'), ...quote(time)]] : [];
}

function eventLines(events: readonly SessionEvent[]): Line[] {
  if (events.length === 0) return [];
  const shown = events.slice(-MOST_EVENTS);
  const rest = events.length - shown.length;
  return [
    [say(`${events.length} EVENT${events.length === 1 ? '' : 'S'}`, 'title')],
    ...(rest > 0 ? [[say(`… ${rest} earlier`, 'dim')]] : []),
    ...shown.map(({ type, timestamp, data }): Line => {
      const when = timestamp === undefined ? [] : [...quote(timestamp, 'dim'), say('  ')];
      const what = data === undefined ? [] : [say('  '), ...quote(cut(safeJson(data), LONGEST), 'dim')];
      return [...when, ...quote(type), ...what];
    }),
  ];
}

function pendingLines(changes: Changes): Line[] {
  const pending = pendingIn(changes);
  if (pending === null) return [];
  return [
    [say(`${pending.length} PENDING CALL${pending.length === 1 ? '' : 'S'}`, 'title')],
    ...pending.map(({ tool_name, args = {}, id }): Line => {
      const named = id == null ? [say(' without an id', 'dim')] : [say(' as ', 'dim'), ...quote(id)];
      return [...quote(tool_name), say(' '), ...quote(cut(safeJson(args), LONGEST)), ...named];
    }),
  ];
}

function answerPart({ answer }: Changes): Line[] {
  return answer === undefined || answer === null ? [] : jsonLines('ANSWER', answer);
}
