import * as z from 'zod/mini';
import type { Reading, ValidReading } from '../../dialects/dialect.js';
import { readAs } from '../../dialects/dialects.js';
import {
  ACTIVE_STATE_CHANGE,
  activeStateSchema,
  changesSchema,
  type ToolRequest,
} from '../../protocol/session.js';
import { validate } from '../../protocol/validate.js';
import { callHeading } from '../../render/callbacks.js';
import { problemLines } from '../../render/failure.js';
import { type Line, line, pluralize, quote, say } from '../../render/line.js';
import {
  type SessionCallReport,
  type SessionSummary,
  sessionReportSchema,
} from '../../render/outputs/schemas.js';
import { finalLines } from '../../render/session-calls.js';
import { safeJson } from '../../util/redact.js';
import { truncate } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import {
  asWarning,
  type Json,
  type Kind,
  messagesOf,
  numbered,
  requireValid,
  type SavedAnswer,
  type Section,
  saved,
} from './saved.js';
import { answerReport, answerSections, answerWarnings, outcomeLines, savedAnswer } from './saved-answer.js';

/** Limits: characters of an event and of arguments; number of events. */
const MAX = { text: 200, events: 50 };

/** Returns the name of an answer in the agent-session API; for an unknown outcome, the name in the file. */
function kindOfAnswer({ answer: { outcome } }: ValidReading): string {
  if (outcome.type === 'unknown') return String(outcome.raw);
  return outcome.type === 'success' ? 'tool_result' : 'error_event';
}

const settledCallKind: Kind = {
  name: 'a settled call of an agent session (tool_result, error_event)',
  dialect: 'session',
  looksLike: value => 'kind' in value && 'tool_req' in value,
  read(json) {
    const reading = requireValid(readAs('session', json.value));
    return savedAnswer(kindOfAnswer(reading), reading, json);
  },
};

const batchSchema = z.object({ type: z.literal('batch'), results: z.array(z.unknown()) });

const batchKind: Kind = {
  name: 'a batch of settled calls of an agent session',
  dialect: 'session',
  looksLike: ({ type }) => type === 'batch',
  read({ value: native, notes, source }) {
    const { results } = requireValid(validate(batchSchema, native)).value;
    const readings = results.map((result, index) =>
      requireValid(readAs('session', result), `$.results[${index}]`),
    );
    const calls = readings.map(reading => answerSections(kindOfAnswer(reading), reading));
    return saved(
      'batch',
      [...numbered('CALL', calls), readings.length === 0 ? [[say('a batch without any call')]] : []],
      { results: readings.map(answerReport) },
      [...messagesOf(notes), ...readings.flatMap(answerWarnings)],
      to =>
        to === 'session'
          ? [{ dialect: 'session', native, source: () => source([]) }]
          : sourced(readings, source, index => ['results', index]),
    );
  },
};

/** Returns the valid readings of a list. @param path of each item in the JSON of the file */
function sourced(
  readings: readonly Reading[],
  source: Json['source'],
  path: (index: number) => PropertyKey[],
): SavedAnswer[] {
  return readings.flatMap((reading, index) =>
    reading.ok ? [{ ...reading, source: () => source(path(index)) }] : [],
  );
}

const changesKind: Kind = {
  name: 'changes of an agent session',
  dialect: 'session',
  looksLike: ({ status, ...rest }) =>
    typeof status === 'string' && ('new_events' in rest || 'started_at' in rest || 'finished_at' in rest),
  read({ value: message }) {
    const changes = requireValid(validate(changesSchema, message)).value;
    const pending = pendingIn(changes);
    return saved('changes', changesSections(changes, pending), { message, pending });
  },
};

type Changes = z.infer<typeof changesSchema>;

/** Returns the calls that a session waits for according to its latest event about them; null if there is no such event. */
function pendingIn({ new_events = [] }: Changes): readonly ToolRequest[] | null {
  const latest = new_events.findLast(({ type }) => type === ACTIVE_STATE_CHANGE);
  const state = latest && activeStateSchema.safeParse(latest.data);
  return state?.success ? (state.data.pending_tool_calls ?? []) : null;
}

/** Returns the status of a session, its events, the calls it waits for, and its answer. */
function changesSections(changes: Changes, pending: readonly ToolRequest[] | null): Section[] {
  const { status, started_at, finished_at, error, answer, new_events: events = [] } = changes;
  const rest = events.length - MAX.events;
  const time = (what: string, at: string | null | undefined): Line[] =>
    at ? [[say(`${what} `, 'dim'), ...quote(at)]] : [];
  return [
    [
      [say('session ', 'title'), ...quote(status, 'title')],
      ...time('started', started_at),
      ...time('finished', finished_at),
      ...(error ? [[say('✗ ', 'bad'), ...quote(truncate(error, MAX.text))]] : []),
    ],
    [
      ...(events.length === 0 ? [] : [[say(pluralize(events.length, 'EVENT', 'EVENTS'), 'title')]]),
      ...(rest > 0 ? [[say(`… ${rest} earlier`, 'dim')]] : []),
      ...events.slice(-MAX.events).map(({ type, timestamp, data }): Line => {
        const when = timestamp === undefined ? [] : [...quote(timestamp, 'dim'), say('  ')];
        const what =
          data === undefined ? [] : [say('  '), ...quote(truncate(safeJson(data), MAX.text), 'dim')];
        return [...when, ...quote(type), ...what];
      }),
    ],
    pending === null ? [] : pendingLines(pending),
    answer === undefined || answer === null ? [] : finalLines({ answer: { value: answer } }),
  ];
}

function pendingLines(pending: readonly ToolRequest[]): Line[] {
  return [
    [say(pluralize(pending.length, 'PENDING CALL', 'PENDING CALLS'), 'title')],
    ...pending.map(({ tool_name, args = {}, id }): Line => {
      const name = id == null ? [say(' without an id', 'dim')] : [say(' as ', 'dim'), ...quote(id)];
      return line`${quote(tool_name)} ${quote(truncate(safeJson(args), MAX.text))}${name}`;
    }),
  ];
}

const sessionReportKind: Kind = {
  name: 'a report of an agent session (session answer -o json)',
  dialect: 'session',
  looksLike: ({ session, calls }) => isRecord(session) && Array.isArray(calls),
  read({ value, source }) {
    const { session, calls = [], warnings, error } = requireValid(validate(sessionReportSchema, value)).value;
    const answer = session?.answer;
    return {
      sections: [
        session ? sessionHead(session) : [],
        ...calls.flatMap(sessionCallSections),
        answer === undefined ? [] : finalLines({ answer: { value: answer } }),
        problemLines(warnings.map(asWarning), error ?? null),
      ],
      report: value,
      answers: () => sourced(calls.map(sessionAnswer), source, index => ['calls', index, 'body']),
    };
  },
};

function sessionHead({ id, url, status, rounds, error }: SessionSummary): Line[] {
  const state = `${status ?? 'not heard of'} · ${pluralize(rounds, 'round')}`;
  return [
    [say('SESSION ', 'title'), ...quote(id, 'title'), say('  '), ...quote(state)],
    quote(url, 'dim'),
    ...(error === null ? [] : [[say('✗ ', 'bad'), ...quote(error)]]),
  ];
}

/** Returns the sections for an agent's call, and the response to its answer. */
function sessionCallSections({ key, tool_name, outcome, body, posted }: SessionCallReport): Section[] {
  const reading = readAs('session', body);
  const state = posted?.state ?? (body === undefined ? 'not answered' : 'not posted');
  const last: Line[] = [[say('  ', 'gutter'), ...quote(state, 'dim')]];
  if (reading.ok) return [...answerSections(kindOfAnswer(reading), reading), last];
  const heading = [...callHeading('CALL', { id: key }), say(' by ', 'dim'), ...quote(tool_name)];
  return [[heading, ...(outcome ? outcomeLines(outcome) : [])], last];
}

/** An `error_event` does not contain the kind of failure, so it is taken from the report. */
function sessionAnswer({ outcome, body }: SessionCallReport): Reading {
  const reading = readAs('session', body);
  if (!reading.ok || reading.answer.outcome.type !== 'error') return reading;
  if (outcome === null || outcome.type === 'success') return reading;
  return { ...reading, answer: { ...reading.answer, outcome } };
}

/** The messages and reports of agent sessions, in the order in which they are tried. */
export const SESSION_KINDS: readonly Kind[] = [sessionReportKind, settledCallKind, batchKind, changesKind];
