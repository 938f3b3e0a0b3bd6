import * as z from 'zod/mini';
import type { Reading, ValidReading } from '../../dialects/dialect.js';
import { readAs } from '../../dialects/dialects.js';
import { readMcpAnswer } from '../../events/answer.js';
import type { JudgedOutcome } from '../../protocol/outcome.js';
import {
  ACTIVE_STATE_CHANGE,
  activeStateSchema,
  savedChangesSchema,
  type ToolRequest,
} from '../../protocol/session.js';
import { validate } from '../../protocol/validate.js';
import { callHeading } from '../../render/callbacks.js';
import { basisLine } from '../../render/calls.js';
import { problemLines } from '../../render/failure.js';
import { type Line, line, pluralize, quote, say } from '../../render/line.js';
import {
  type SessionCallReport,
  type SessionSummary,
  sessionReportSchema,
} from '../../render/outputs/schemas.js';
import { llmPane, panesOf } from '../../render/panes.js';
import { finalLines } from '../../render/session-calls.js';
import { textWarnings } from '../../render/warnings.js';
import { safeJson } from '../../util/safe-json.js';
import { truncate } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import {
  asWarning,
  InvalidJson,
  type Json,
  jsonSection,
  type Kind,
  messagesOf,
  numbered,
  requireValid,
  type Saved,
  type SavedAnswer,
  type Section,
  saved,
} from './saved.js';

/** Limits: characters of an outcome's member, of an event and of arguments; number of session events. */
const MAX = { member: 300, text: 200, events: 50 };

/** Returns an answer of a tool. @param kind its name in `-o json` */
function savedAnswer(kind: string, reading: ValidReading, { notes, source }: Json, panes?: Section): Saved {
  return saved(
    kind,
    answerSections(kind, reading, panes),
    answerReport(reading),
    [...messagesOf(notes), ...answerWarnings(reading)],
    () => [{ ...reading, source: () => source([]) }],
  );
}

/** Returns the sections for how the call ended, what the model gets, and members that no pane shows. */
function answerSections(
  what: string,
  { answer, text }: ValidReading,
  panes: Section = llmPane(text, true),
): Section[] {
  const { call, outcome, beside = {} } = answer;
  const by = call.tool === undefined ? [] : [say(' by ', 'dim'), ...quote(call.tool)];
  const heading = callHeading(what, call.id === null ? {} : { id: call.id });
  const others = { META: beside.meta, 'OTHER FIELDS': beside['other fields'] };
  return [[[...heading, ...by], ...outcomeLines(outcome)], panes, ...Object.entries(others).map(jsonSection)];
}

const answerReport = ({ native, answer, text }: ValidReading) => ({
  message: native,
  outcome: answer.outcome,
  llm: { text },
});

const answerWarnings = ({ notes, text }: ValidReading) => [...messagesOf(notes), ...textWarnings(text)];

/** Returns an outcome and its members, one per line. */
function outcomeLines({ type, basis, ...members }: JudgedOutcome): Line[] {
  const [mark, tone] = type === 'success' ? (['✓', 'good'] as const) : (['✗', 'bad'] as const);
  return [
    line`${say(`${mark} `, tone)}outcome ${say(type, tone)}${say(` (${basisLine(basis)})`, 'dim')}`,
    ...Object.entries(members).flatMap(([name, value]): Line[] => {
      if (value === undefined) return [];
      const text = truncate(typeof value === 'string' ? value : safeJson(value), MAX.member);
      return [[say(`    ${name}  `, 'dim'), ...quote(text)]];
    }),
  ];
}

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
    const changes = requireValid(validate(savedChangesSchema, message)).value;
    const pending = pendingIn(changes);
    return saved('changes', changesSections(changes, pending), { message, pending });
  },
};

type Changes = z.infer<typeof savedChangesSchema>;

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

const lmkitKind: Kind = {
  name: 'a ToolCallResult of LM-Kit',
  dialect: 'lmkit',
  looksLike: value => 'ResultJson' in value,
  read: json => savedAnswer('ToolCallResult', requireValid(readAs('lmkit', json.value)), json),
};

/** The result of `tools/call`. */
const mcpKind: Kind = {
  name: 'a CallToolResult of MCP',
  dialect: 'mcp',
  looksLike: ({ content, isError, structuredContent }) =>
    Array.isArray(content) || isError !== undefined || structuredContent !== undefined,
  read: (json, { supports }) => savedMcp(json, supports),
};

/** @param place path of the result in the whole JSON */
function savedMcp(json: Json, supports: ReadonlySet<string>, place = '$'): Saved {
  const reading = requireValid(readAs('mcp', json.value), place);
  const { native, text, notes, answer } = reading;
  const settled = { by: 'answer', native, text, notes, reading, outcome: answer.outcome } as const;
  return savedAnswer('CallToolResult', reading, json, panesOf({ settled }, supports) ?? undefined);
}

/** The response to `tools/call` on the wire: a CallToolResult or an error, in a JSON-RPC envelope. */
const jsonRpcKind: Kind = {
  name: 'a response of JSON-RPC to tools/call',
  dialect: 'mcp',
  looksLike: value => 'jsonrpc' in value && ('result' in value || 'error' in value),
  read(json, { supports }) {
    const { result, error } = isRecord(json.value) ? json.value : {};
    if (error !== undefined) return savedError(error, supports);
    const source: Json['source'] = path => json.source(['result', ...path]);
    return savedMcp({ ...json, value: result, source }, supports, '$.result');
  },
};

/** Shows an error without a tool's answer; the model still gets a text. */
function savedError(error: unknown, supports: ReadonlySet<string>): Saved {
  const answer = readMcpAnswer({ ok: true, value: { error }, notes: [] });
  const { native, outcome, text } = answer;
  if (outcome.basis !== 'declared')
    throw new InvalidJson(['$.error: must have a code, which is a number, and a message']);
  const panes = panesOf({ settled: { by: 'answer', ...answer } }, supports);
  return saved(
    'JSON-RPC error',
    [[[say('response of JSON-RPC', 'title')], ...outcomeLines(outcome)], panes ?? []],
    { message: native, outcome, llm: { text } },
    messagesOf(answer.notes),
    () => [{ answer: { call: { id: null }, outcome } }],
  );
}

/** Answers of tools over other systems than RAP, and what agent sessions send, in the order in which they are tried. */
export const ANSWER_KINDS: readonly Kind[] = [
  sessionReportKind,
  settledCallKind,
  batchKind,
  changesKind,
  lmkitKind,
  mcpKind,
  jsonRpcKind,
];
