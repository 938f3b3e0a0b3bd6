import * as z from 'zod/mini';
import { readAs } from '../../dialects/dialects.js';
import { answerOf, readMcpAnswer } from '../../events/answer.js';
import { shareableMessage, urlRedactor } from '../../events/shareable.js';
import { CALLBACK_TYPES, type Callback, readCallback, toolResultSchema } from '../../protocol/callbacks.js';
import { type Invocation, type InvocationReading, readInvocation } from '../../protocol/invocation.js';
import { llmText, outcomeOfText } from '../../protocol/outcome.js';
import { readToolset } from '../../protocol/read-toolset.js';
import type { Warning } from '../../protocol/requirements.js';
import { validate } from '../../protocol/validate.js';
import { callHeading, messageLines } from '../../render/callbacks.js';
import { basisLine } from '../../render/calls.js';
import { problemLines } from '../../render/failure.js';
import { type Line, labelled, line, quote, took, withMark } from '../../render/line.js';
import { displayReport } from '../../render/outputs/call-report.js';
import {
  type CallbackReport,
  type Report,
  repeatsSchema,
  reportSchema,
} from '../../render/outputs/schemas.js';
import { llmPane, panesOf, panesOfResult, viewPane } from '../../render/panes.js';
import { toolsetLines } from '../../render/toolset.js';
import { textWarnings } from '../../render/warnings.js';
import { redactJson } from '../../util/redact-json.js';
import { isRecord } from '../../util/values.js';
import { ANSWER_KINDS } from './answer-kinds.js';
import {
  asWarning,
  type Json,
  jsonSection,
  type Kind,
  messagesOf,
  numbered,
  requireValid,
  type SavedAnswer,
  type Section,
  saved,
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

/** What is shown of a callback besides its message. */
interface ShownContent {
  readonly sections: readonly Section[];
  /** Members of `-o json`. */
  readonly members?: object;
  /** About its text. */
  readonly warnings: readonly Warning[];
}

function shownContent(message: Callback, supports: ReadonlySet<string>): ShownContent {
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

function reportSections(report: Report, supports: ReadonlySet<string>): Section[] {
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

/** All kinds of JSON objects that can be shown, in the order in which they are tried. */
export const KINDS: readonly Kind[] = [
  callbackKind,
  reportKind,
  ...ANSWER_KINDS,
  repeatsKind,
  invocationKind,
  toolsetKind,
];
