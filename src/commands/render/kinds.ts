import * as z from 'zod/mini';
import { readAs } from '../../dialects/dialects.js';
import { answerOfMcp, answerOfOurs, answerOfResult, readMcpAnswer } from '../../events/answer.js';
import { shareableMessage, urlSecrets } from '../../events/shareable.js';
import { CALLBACK_TYPES, type Callback, readCallback, toolResultSchema } from '../../protocol/callbacks.js';
import { type Invocation, type InvocationReading, readInvocation } from '../../protocol/invocation.js';
import { llmText, outcomeOfText } from '../../protocol/outcome.js';
import { readToolset } from '../../protocol/read-toolset.js';
import { validate } from '../../protocol/validate.js';
import { callHeading, messageLines } from '../../render/callbacks.js';
import { problemLines } from '../../render/failure.js';
import { type Line, labelled, line, marked, quote, say, textLines, took } from '../../render/line.js';
import { displayReport } from '../../render/outputs/call-report.js';
import { type Report, reportSchema } from '../../render/outputs/schemas.js';
import { llmPane, type Panes, panesOfMcp, panesOfResult, viewPane } from '../../render/panes.js';
import { basisWords } from '../../render/steps.js';
import { toolsetLines } from '../../render/toolset.js';
import { textWarnings } from '../../render/warnings.js';
import { prettyJson } from '../../util/json.js';
import { redactJson } from '../../util/redact.js';
import { withoutPath } from '../../util/url.js';
import { isRecord } from '../../util/values.js';
import { ANSWER_KINDS } from './answer-kinds.js';
import {
  asWarning,
  type Json,
  type Kind,
  messagesOf,
  numbered,
  type SavedAnswer,
  type Section,
  saved,
  sound,
  type View,
} from './saved.js';

const callbackKind: Kind = {
  name: `a callback (${CALLBACK_TYPES.join(', ')})`,
  dialect: 'rap',
  isMeant: ({ type }) => CALLBACK_TYPES.some(each => each === type),
  read(json, { supports, isPrivate }) {
    const { message, native, warnings: remarks } = sound(readCallback(json));
    const { sections, members, warnings } = shownContent(message, supports);
    const reading = message.type === 'tool_result' ? readAs('rap', native) : null;
    return saved(
      message.type,
      [messageLines(isPrivate ? message : shareableMessage(message)), ...sections],
      { message: withoutPower(message, native), ...members },
      [...remarks, ...warnings],
      () => (reading?.ok ? [{ ...reading, source: () => json.source([]) }] : []),
    );
  },
};

/** Removes secrets that grant access to a conversation: the report may be stored (threats, row 25). */
function withoutPower(message: Callback, native: unknown): unknown {
  if (!isRecord(native)) return native;
  if (message.type !== 'user_choice') return shareableMessage(native);
  const secrets = urlSecrets([message.response_url], [message.id, message.group_id]);
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
  isMeant: value => 'operation' in value,
  read(json, { isPrivate }) {
    const reading = sound<Extract<InvocationReading, { ok: true }>>(readInvocation(json));
    const { invocation } = reading;
    const { callback_url, id, group_id, call_id } = invocation;
    const secrets = urlSecrets([callback_url], [id, group_id, call_id ?? '']);
    const args = JSON.stringify(invocation.arguments);
    return saved(
      'invocation',
      [invocationLines(invocation, isPrivate ? args : secrets.text(args), isPrivate)],
      { invocation: JSON.parse(redactJson(JSON.stringify(invocation), secrets)) },
      messagesOf(reading.notes),
    );
  },
};

/** Operation, ids and arguments. @param isPrivate whether only the user sees them; then the callback token is included */
function invocationLines(invocation: Invocation, args: string, isPrivate: boolean): Line[] {
  const { operation, id, group_id, call_id, thread_ancestors, user_id, callback_url } = invocation;
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
    ...textLines(prettyJson(args) ?? args, Number.POSITIVE_INFINITY).lines,
  ];
}

const toolsetKind: Kind = {
  name: 'a toolset',
  dialect: 'rap',
  isMeant: ({ tools }) => Array.isArray(tools),
  async read(json) {
    const { toolset, notes } = sound(await readToolset(json));
    return saved('toolset', [toolsetLines(toolset)], { toolset }, messagesOf(notes));
  },
};

const reportKind: Kind = {
  name: 'a report (invoke -o json)',
  dialect: 'rap',
  isMeant: ({ invocation, warnings, error }) =>
    isRecord(invocation) || (Array.isArray(warnings) && isRecord(error)),
  read(json, { supports }) {
    const report = sound(validate(reportSchema, json.value)).value;
    return {
      sections: reportSections(report, supports),
      report: json.value,
      answers: () => reportAnswers(report, json.source),
    };
  },
};

/** The output of `--repeat`. Its summary is not shown, since each call is. */
const repeatsSchema = z.object({
  calls: z.array(reportSchema),
  warnings: reportSchema.shape.warnings,
});

const repeatsKind: Kind = {
  name: 'a report of many calls (invoke --repeat -o json)',
  dialect: 'rap',
  isMeant: ({ calls, warnings }) => Array.isArray(calls) && Array.isArray(warnings),
  read({ value, source }, { supports }) {
    const { calls, warnings } = sound(validate(repeatsSchema, value)).value;
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
  const panes = resultPanes(report, supports);
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
  const basis = outcome && line` (${quote(basisWords(outcome.basis))})`;
  return [
    ...(invocation ? [marked('done', line`sent ${quote(invocation.operation, 'title')}${where}`)] : []),
    ...(acknowledgement ? [acknowledgementLine(acknowledgement)] : []),
    ...callbacks.map(callbackLine),
    ...(outcome && outcome.type !== 'success'
      ? [marked('failed', line`outcome ${quote(outcome.type)}${basis}`)]
      : []),
  ];
}

function acknowledgementLine({ status, ms }: NonNullable<Report['acknowledgement']>): Line {
  if (status === 200) return marked('done', line`acknowledged with 200${took(ms)}`);
  return marked('failed', line`answered ${status} instead of 200${took(ms)}`);
}

function callbackLine(callback: NonNullable<Report['callbacks']>[number]): Line {
  const { type, ms, verdict, status, ourStatus = status, reason, text } = callback;
  if (verdict === 'settles') return marked('done', line`result${took(ms)}`);
  const isOurs = status !== null && ourStatus === status;
  const words = reason ?? text;
  const why = words !== undefined && line`: ${quote(words)}`;
  const answered = status === null ? '; the runtime did not answer' : `; the runtime answered ${status}`;
  const description = line`${quote(type ?? 'callback', 'title')} ${verdict}${isOurs && ` with ${status}`}${why}${!isOurs && answered}${took(ms)}`;
  return marked(ourStatus === 200 ? 'note' : 'failed', description);
}

function resultPanes({ dialect, result }: Report, supports: View['supports']): Panes | null {
  if (!result) return null;
  if (dialect === 'mcp') return panesOfMcp(mcpAnswerOf(result));
  const { data } = toolResultSchema.safeParse(result);
  return data ? panesOfResult(data, supports) : null;
}

const mcpAnswerOf = (value: unknown) => readMcpAnswer({ ok: true, value, notes: [] });

function reportAnswers(report: Report, source: Json['source']): SavedAnswer[] {
  const { dialect, invocation, outcome, result } = report;
  if (!result) return outcome && invocation ? [{ answer: answerOfOurs(invocation, outcome) }] : [];
  const { reading } = dialect === 'mcp' ? mcpAnswerOf(result) : { reading: null };
  const answer = reading ? answerOfMcp(invocation, reading) : answerOfResult(invocation, result);
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
