import type { Feature, SoundReading } from '../../dialects/dialect.js';
import { urlSecrets } from '../../events/shareable.js';
import type { Invocation } from '../../protocol/invocation.js';
import type { JudgedOutcome } from '../../protocol/outcome.js';
import {
  ACTIVE_STATE_CHANGE,
  activeStateSchema,
  type Changes,
  type ToolRequest,
} from '../../protocol/session.js';
import { callHeading } from '../../render/callbacks.js';
import { counted, type Line, labelled, line, quote, say, textLines } from '../../render/line.js';
import { basisWords } from '../../render/steps.js';
import { prettyJson } from '../../util/json-format.js';
import { safeJson } from '../../util/redact.js';
import { cut } from '../../util/text.js';
import { withoutPath } from '../../util/url.js';

/** Returns the lines for a tool's answer: its call and its outcome. */
export function answerLines(what: string, { answer }: SoundReading): Line[] {
  const { id, tool } = answer.call;
  const heading = callHeading(what, id === null ? {} : { id });
  const by = tool === undefined ? [] : [say(' by ', 'dim'), ...quote(tool)];
  return [[...heading, ...by], ...outcomeLines(answer.outcome)];
}

const MEMBERS: Readonly<Record<string, string>> = { errorType: 'type', durationMs: 'duration in ms' };

/** Maximum length of a member, in characters; the pane shows all of it. */
const MAX_MEMBER_LENGTH = 300;

/** Returns an outcome and its members, one per line. */
export function outcomeLines({ type, basis, ...members }: JudgedOutcome): Line[] {
  const isGood = type === 'success';
  const tone = isGood ? 'good' : 'bad';
  return [
    line`${say(isGood ? '✓ ' : '✗ ', tone)}outcome ${say(type, tone)}${say(` (${basisWords(basis)})`, 'dim')}`,
    ...Object.entries(members).flatMap(([name, value]): Line[] => {
      if (value === undefined) return [];
      const text = cut(typeof value === 'string' ? value : safeJson(value), MAX_MEMBER_LENGTH);
      return [[say(`    ${MEMBERS[name] ?? name}  `, 'dim'), ...quote(text)]];
    }),
  ];
}

const BESIDE: Readonly<Partial<Record<Feature, string>>> = { meta: 'META', 'other fields': 'OTHER FIELDS' };

/** Returns the members of an answer that no pane shows, as JSON. */
export function besideLines({ answer: { beside = {} } }: SoundReading): Line[] {
  return Object.entries(BESIDE).flatMap(([feature, title]) => {
    const value = Object.entries(beside).find(([each]) => each === feature)?.[1];
    return value === undefined ? [] : jsonLines(title, value);
  });
}

/** Maximum number of JSON lines under a title. */
const MAX_LINES = 40;

function jsonLines(title: string, value: unknown): Line[] {
  const { lines, total } = textLines(safeJson(value, 2), MAX_LINES);
  const rest = total - lines.length;
  return [[say(title, 'title')], ...lines, ...(rest > 0 ? [[say(`… ${rest} more lines`, 'dim')]] : [])];
}

/** Operation, ids and arguments. @param isPrivate whether only the user sees them; then the callback token is included */
export function invocationLines(invocation: Invocation, isPrivate: boolean): Line[] {
  const { operation, id, group_id, call_id, thread_ancestors, user_id, callback_url } = invocation;
  const written = JSON.stringify(invocation.arguments);
  const text = isPrivate ? written : invocationSecrets(invocation).text(written);
  const values: readonly (readonly [string, string | null | undefined])[] = [
    ['call_id', call_id],
    ['ancestors', thread_ancestors?.join(' → ')],
    ['user', user_id],
    ['callback', isPrivate ? callback_url : withoutPath(callback_url)],
  ];
  return [
    callHeading(operation, { id, group_id }),
    ...values.flatMap(([label, value]) => (value ? [labelled(label, ...quote(value))] : [])),
    [],
    [say('ARGUMENTS', 'title')],
    ...textLines(prettyJson(text) ?? text, Number.POSITIVE_INFINITY).lines,
  ];
}

/** Returns the secrets of an invocation, to be redacted in everything shown with it. */
export function invocationSecrets({ callback_url, id, group_id, call_id }: Invocation) {
  return urlSecrets([callback_url], [id, group_id, call_id ?? '']);
}

/** Maximum number of session events shown; the last ones show the current state. */
const MAX_EVENTS = 50;

/** Maximum length of an event, of arguments, or of an error, in characters. */
const MAX_LENGTH = 200;

/** Returns the changes of an agent session in parts: its status, its events, the calls it waits for, its answer. */
export function changesLines(changes: Changes): (readonly Line[])[] {
  const { status, started_at, finished_at, error, answer, new_events: events = [] } = changes;
  const shown = events.slice(-MAX_EVENTS);
  const rest = events.length - shown.length;
  const pending = pendingIn(changes);
  const time = (what: string, at: string | null | undefined): Line[] =>
    at ? [[say(`${what} `, 'dim'), ...quote(at)]] : [];
  return [
    [
      [say('session ', 'title'), ...quote(status, 'title')],
      ...time('started', started_at),
      ...time('finished', finished_at),
      ...(error ? [[say('✗ ', 'bad'), ...quote(cut(error, MAX_LENGTH))]] : []),
    ],
    [
      ...(events.length === 0 ? [] : [[say(counted(events.length, 'EVENT', 'EVENTS'), 'title')]]),
      ...(rest > 0 ? [[say(`… ${rest} earlier`, 'dim')]] : []),
      ...shown.map(({ type, timestamp, data }): Line => {
        const when = timestamp === undefined ? [] : [...quote(timestamp, 'dim'), say('  ')];
        const what = data === undefined ? [] : [say('  '), ...quote(cut(safeJson(data), MAX_LENGTH), 'dim')];
        return [...when, ...quote(type), ...what];
      }),
    ],
    pending === null ? [] : pendingLines(pending),
    answer === undefined || answer === null ? [] : jsonLines('ANSWER', answer),
  ];
}

/** Returns the calls that a session waits for according to its latest event about them; null if there is no such event. */
export function pendingIn({ new_events = [] }: Changes): readonly ToolRequest[] | null {
  const latest = new_events.findLast(({ type }) => type === ACTIVE_STATE_CHANGE);
  const state = latest && activeStateSchema.safeParse(latest.data);
  return state?.success ? (state.data.pending_tool_calls ?? []) : null;
}

function pendingLines(pending: readonly ToolRequest[]): Line[] {
  return [
    [say(counted(pending.length, 'PENDING CALL', 'PENDING CALLS'), 'title')],
    ...pending.map(({ tool_name, args = {}, id }): Line => {
      const name = id == null ? [say(' without an id', 'dim')] : [say(' as ', 'dim'), ...quote(id)];
      return line`${quote(tool_name)} ${quote(cut(safeJson(args), MAX_LENGTH))}${name}`;
    }),
  ];
}
