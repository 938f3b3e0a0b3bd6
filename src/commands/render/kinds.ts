import * as z from 'zod/mini';
import type { Reading, ValidReading } from '../../dialects/dialect.js';
import { readAs } from '../../dialects/dialects.js';
import { answerOf, readMcpAnswer } from '../../events/answer.js';
import { shareableMessage, urlRedactor } from '../../events/shareable.js';
import { CALLBACK_TYPES, type Callback, readCallback, toolResultSchema } from '../../protocol/callbacks.js';
import { type Invocation, type InvocationReading, readInvocation } from '../../protocol/invocation.js';
import { type JudgedOutcome, llmText, outcomeOfText } from '../../protocol/outcome.js';
import { readToolset } from '../../protocol/read-toolset.js';
import {
  ACTIVE_STATE_CHANGE,
  activeStateSchema,
  changesSchema,
  type ToolRequest,
} from '../../protocol/session.js';
import { validate } from '../../protocol/validate.js';
import { callHeading, messageLines } from '../../render/callbacks.js';
import { problemLines } from '../../render/failure.js';
import {
  type Line,
  labelled,
  line,
  pluralize,
  quote,
  say,
  textLines,
  took,
  withMark,
} from '../../render/line.js';
import { displayReport } from '../../render/outputs/call-report.js';
import {
  type CallbackReport,
  type Report,
  repeatsSchema,
  reportSchema,
  type SessionCallReport,
  type SessionSummary,
  sessionReportSchema,
} from '../../render/outputs/schemas.js';
import { llmPane, panesOf, panesOfResult, viewPane } from '../../render/panes.js';
import { finalLines } from '../../render/session-calls.js';
import { basisLine } from '../../render/steps.js';
import { toolsetLines } from '../../render/toolset.js';
import { textWarnings } from '../../render/warnings.js';
import { redactJson, safeJson } from '../../util/redact.js';
import { truncate } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import {
  asWarning,
  InvalidJson,
  type Json,
  type Kind,
  messagesOf,
  numbered,
  requireValid,
  type Saved,
  type SavedAnswer,
  type Section,
  saved,
  type View,
} from './saved.js';

const callbackKind: Kind = {
  name: `a callback (${CALLBACK_TYPES.join(', ')})`,
  dialect: 'rap',
  looksLike: ({ type }) => CALLBACK_TYPES.some(each => each === type),
  read(json, { supports, isPrivate }) {
    const { message, native, warnings: remarks } = requireValid(readCallback(json));
    const { sections, members, warnings } = shownContent(message, supports);
    const reading = message.type === 'tool_result' ? readAs('rap', native) : null;
    return saved(
      message.type,
      [messageLines(isPrivate ? message : shareableMessage(message)), ...sections],
      { message: withoutSecretUrls(message, native), ...members },
      [...remarks, ...warnings],
      () => (reading?.ok ? [{ ...reading, source: () => json.source([]) }] : []),
    );
  },
};

/** Removes secrets that grant access to a conversation: the report may be stored (threats, row 25). */
function withoutSecretUrls(message: Callback, native: unknown): unknown {
  if (!isRecord(native)) return native;
  if (message.type !== 'user_choice') return shareableMessage(native);
  const secrets = urlRedactor([message.response_url], [message.id, message.group_id]);
  return { ...native, response_url: secrets.text(message.response_url) };
}

/** Returns the panes of a callback, its members in `-o json`, and warnings about its text. */
function shownContent(message: Callback, supports: View['supports']) {
  if (message.type === 'tool_result') {
    const text = llmText(message);
    const panes = panesOfResult(message, supports);
    const members = { outcome: outcomeOfText(text), llm: { text }, display: displayReport(panes) };
    return { sections: [panes], members, warnings: [...panes.warnings, ...textWarnings(text)] };
  }
  if (message.type === 'subscription_event')
    return { sections: [llmPane(message.text, true)], warnings: textWarnings(message.text) };
  const isView = message.type === 'view_update' && Object.keys(message.content).length > 0;
  const pane = isView && viewPane({ type: message.view_type, content: message.content, updates: 1 });
  return { sections: pane ? [pane] : [], warnings: [] };
}

const invocationKind: Kind = {
  name: 'an invocation',
  dialect: 'rap',
  looksLike: value => 'operation' in value,
  read(json, { isPrivate }) {
    const reading = requireValid<Extract<InvocationReading, { ok: true }>>(readInvocation(json));
    const { invocation } = reading;
    const { callback_url, id, group_id, call_id } = invocation;
    const secrets = urlRedactor([callback_url], [id, group_id, call_id ?? '']);
    const shareable: Invocation = JSON.parse(redactJson(JSON.stringify(invocation), secrets));
    const lines = invocationLines(isPrivate ? invocation : shareable);
    return saved('invocation', [lines], { invocation: shareable }, messagesOf(reading.notes));
  },
};

function invocationLines(invocation: Invocation): Line[] {
  const { operation, id, group_id, call_id, thread_ancestors, user_id, callback_url: callback } = invocation;
  const values = { call_id, ancestors: thread_ancestors?.join(' → '), user: user_id, callback };
  return [
    callHeading(operation, { id, group_id }),
    ...Object.entries(values).flatMap(([label, value]) => (value ? [labelled(label, ...quote(value))] : [])),
    [],
    ...jsonSection(['ARGUMENTS', invocation.arguments]),
  ];
}

const toolsetKind: Kind = {
  name: 'a toolset',
  dialect: 'rap',
  looksLike: ({ tools }) => Array.isArray(tools),
  async read(json) {
    const { toolset, notes } = requireValid(await readToolset(json));
    return saved('toolset', [toolsetLines(toolset)], { toolset }, messagesOf(notes));
  },
};

const reportKind: Kind = {
  name: 'a report (invoke -o json)',
  dialect: 'rap',
  looksLike: ({ invocation, warnings, error }) =>
    isRecord(invocation) || (Array.isArray(warnings) && isRecord(error)),
  read(json, { supports }) {
    const report = requireValid(validate(reportSchema, json.value)).value;
    return {
      sections: reportSections(report, supports),
      report: json.value,
      answers: () => reportAnswers(report, json.source),
    };
  },
};

const repeatsKind: Kind = {
  name: 'a report of many calls (invoke --repeat -o json)',
  dialect: 'rap',
  looksLike: ({ calls, warnings }) => Array.isArray(calls) && Array.isArray(warnings),
  read({ value, source }, { supports }) {
    const { calls, warnings } = requireValid(validate(z.omit(repeatsSchema, { summary: true }), value)).value;
    const shown = calls.map(call => reportSections(call, supports));
    return {
      sections: [...numbered('CALL', shown), problemLines(warnings.map(asWarning))],
      report: value,
      answers: () =>
        calls.flatMap((call, index) => reportAnswers(call, path => source(['calls', index, ...path]))),
    };
  },
};

function reportSections(report: Report, supports: View['supports']): Section[] {
  const { invocation, views = [], error, warnings, llm } = report;
  const panes = panesOf({ settled: settledIn(report) }, supports);
  const ours = llm ? [llmPane(llm.text, false)] : [];
  return [
    invocation ? [callHeading(invocation.operation, invocation)] : [],
    reportLines(report),
    ...(panes ? [panes] : ours),
    ...views.map(viewPane),
    problemLines(warnings.map(asWarning), error ?? null),
  ];
}

/** Returns the steps of a reported call, with times since its first request. */
function reportLines({ invocation, endpoint, acknowledgement, outcome, callbacks = [] }: Report): Line[] {
  const where = endpoint !== undefined && line` to ${quote(endpoint)}`;
  const { status, ms = 0 } = acknowledgement ?? {};
  const isGood = status === 200;
  const answer = isGood ? 'acknowledged with 200' : `answered ${status} instead of 200`;
  const isFine = !outcome || outcome.type === 'success';
  return [
    ...(invocation ? [withMark('done', line`sent ${quote(invocation.operation, 'title')}${where}`)] : []),
    ...(acknowledgement ? [withMark(isGood ? 'done' : 'failed', line`${answer}${took(ms)}`)] : []),
    ...callbacks.map(callbackLine),
    ...(isFine ? [] : [withMark('failed', line`outcome ${outcome.type} (${basisLine(outcome.basis)})`)]),
  ];
}

function callbackLine(callback: CallbackReport): Line {
  const { type, ms, verdict, status, ourStatus = status, reason, text } = callback;
  if (verdict === 'settles') return withMark('done', line`result${took(ms)}`);
  const answered = status === null ? 'not answered' : `answered ${status}`;
  const words = reason ?? text;
  const why = words !== undefined && line`: ${quote(words)}`;
  const mark = ourStatus === 200 ? 'note' : 'failed';
  return withMark(mark, line`${quote(type ?? 'callback', 'title')} ${verdict}, ${answered}${why}${took(ms)}`);
}

/** How a reported call ended, as far as its result tells. */
function settledIn({ dialect, result }: Report) {
  if (!result) return null;
  if (dialect === 'mcp')
    return { by: 'answer', ...readMcpAnswer({ ok: true, value: result, notes: [] }) } as const;
  const { data } = toolResultSchema.safeParse(result);
  return data ? ({ by: 'result', result: data, native: result } as const) : null;
}

function reportAnswers(report: Report, source: Json['source']): SavedAnswer[] {
  const { invocation, outcome = null, result } = report;
  const answer = answerOf({ invocation, settled: settledIn(report) }, result ? null : outcome);
  return answer ? [{ ...answer, source: () => source(['result']) }] : [];
}

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

function jsonSection([title, value]: [title: string, value: unknown]): Line[] {
  if (value === undefined) return [];
  return [[say(title, 'title')], ...textLines(safeJson(value, 2), Number.POSITIVE_INFINITY).lines];
}

const answerReport = ({ native, answer, text }: ValidReading) => ({
  message: native,
  outcome: answer.outcome,
  llm: { text },
});

const answerWarnings = ({ notes, text }: ValidReading) => [...messagesOf(notes), ...textWarnings(text)];

/** Limits: characters of an outcome's member, of an event and of arguments; number of session events. */
const MAX = { member: 300, text: 200, events: 50 };

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
function savedMcp(json: Json, supports: View['supports'], place = '$'): Saved {
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
function savedError(error: unknown, supports: View['supports']): Saved {
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

/** All kinds of JSON objects that can be shown, in the order in which they are tried. */
export const KINDS: readonly Kind[] = [
  callbackKind,
  reportKind,
  sessionReportKind,
  settledCallKind,
  batchKind,
  changesKind,
  lmkitKind,
  mcpKind,
  jsonRpcKind,
  repeatsKind,
  invocationKind,
  toolsetKind,
];
