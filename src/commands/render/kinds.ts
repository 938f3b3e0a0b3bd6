import * as z from 'zod/mini';
import type { DialectName, Reading, SoundReading } from '../../dialects/dialect.js';
import { readAs } from '../../dialects/dialects.js';
import { answerOfMcp, answerOfOurs, answerOfResult, readMcpAnswer } from '../../events/answer.js';
import { urlSecrets } from '../../events/shareable.js';
import { CALLBACK_TYPES, type Callback, readCallback, toolResultSchema } from '../../protocol/callbacks.js';
import { type InvocationReading, readInvocation } from '../../protocol/invocation.js';
import { llmText, outcomeOfText } from '../../protocol/outcome.js';
import { readToolset } from '../../protocol/read-toolset.js';
import { isRequirementId, type Warning } from '../../protocol/requirements.js';
import { changesSchema } from '../../protocol/session.js';
import { validate } from '../../protocol/validate.js';
import { callHeading, messageLines } from '../../render/callbacks.js';
import { type Line, line, marked, quote, say, took } from '../../render/line.js';
import { displayReport } from '../../render/outputs/call-report.js';
import { type Report, reportSchema, sessionReportSchema } from '../../render/outputs/schemas.js';
import { llmPane, type Panes, panesOfMcp, panesOfResult, viewPane } from '../../render/panes.js';
import { finalLines } from '../../render/session-calls.js';
import { basisWords } from '../../render/steps.js';
import { toolsetLines } from '../../render/toolset.js';
import { textWarnings } from '../../render/warnings.js';
import { redactJson } from '../../util/redact.js';
import { bareUrl } from '../../util/url.js';
import { isRecord } from '../../util/values.js';
import {
  answerLines,
  besideLines,
  changesLines,
  invocationLines,
  invocationSecrets,
  outcomeLines,
  pendingIn,
} from './message-lines.js';
import {
  InvalidJson,
  type Json,
  linesSection,
  messagesOf,
  numbered,
  paneSection,
  panesSection,
  problemsSection,
  type Saved,
  type SavedAnswer,
  type Section,
  type View,
} from './saved.js';

/** A kind of JSON object that can be shown. */
export interface Kind {
  /** Includes its article, for messages. */
  readonly name: string;
  readonly dialect: DialectName;
  /** Whether the object looks like this kind, valid or not. */
  isMeant(value: Readonly<Record<string, unknown>>): boolean;
  /** @throws InvalidJson */
  read(json: Json, view: View): Saved | Promise<Saved>;
}

type Unsound = { readonly ok: false; readonly faults: readonly string[] };

/** @param place path of a part in the whole JSON */
function sound<Read extends { readonly ok: true }>(reading: Read | Unsound, place = '$'): Read {
  if (reading.ok) return reading;
  throw new InvalidJson(reading.faults.map(fault => fault.replace(/^\$/, place)));
}

const callbackKind: Kind = {
  name: `a callback (${CALLBACK_TYPES.join(', ')})`,
  dialect: 'rap',
  isMeant: ({ type }) => CALLBACK_TYPES.some(each => each === type),
  read(json, { supports, isPrivate }) {
    const { message, native, warnings: remarks } = sound(readCallback(json));
    const result = message.type === 'tool_result' ? shownResult(message, supports) : null;
    const texts = message.type === 'subscription_event' ? textWarnings(message.text) : [];
    const warnings = [...remarks, ...(result?.warnings ?? []), ...texts];
    const reading = result && readAs('rap', native);
    return {
      sections: [
        linesSection(messageLines(message, isPrivate)),
        ...(result ? [result.section] : callbackPanes(message)),
        problemsSection(warnings),
      ],
      report: {
        kind: message.type,
        message: shareableMessage(message, native),
        ...result?.members,
        warnings,
      },
      answers: () => (reading?.ok ? [{ ...reading, source: () => json.source([]) }] : []),
    };
  },
};

function shownResult(message: Extract<Callback, { type: 'tool_result' }>, supports: View['supports']) {
  const text = llmText(message);
  const panes = panesOfResult(message, supports);
  return {
    section: panesSection(panes),
    members: { outcome: outcomeOfText(text), llm: { text }, display: displayReport(panes) },
    warnings: [...panes.warnings, ...textWarnings(text)],
  };
}

function callbackPanes(message: Callback): Section[] {
  if (message.type === 'subscription_event') return [paneSection(llmPane(message.text, true))];
  if (message.type !== 'view_update' || Object.keys(message.content).length === 0) return [];
  return [paneSection(viewPane({ type: message.view_type, content: message.content, updates: 1 }))];
}

/** Removes secrets that grant access to a conversation: the report may be stored (threats, row 25). */
function shareableMessage(message: Callback, native: unknown): unknown {
  if (!isRecord(native)) return native;
  if (message.type === 'oauth') return { ...native, auth_url: bareUrl(message.auth_url) };
  if (message.type !== 'user_choice') return native;
  const secrets = urlSecrets([message.response_url], [message.id, message.group_id]);
  return { ...native, response_url: secrets.text(message.response_url) };
}

type SoundInvocation = Extract<InvocationReading, { ok: true }>;

const invocationKind: Kind = {
  name: 'an invocation',
  dialect: 'rap',
  isMeant: value => 'operation' in value,
  read(json, { isPrivate }) {
    const { invocation, notes } = sound<SoundInvocation>(readInvocation(json));
    const shareable = redactJson(JSON.stringify(invocation), invocationSecrets(invocation));
    const warnings = messagesOf(notes);
    return {
      sections: [linesSection(invocationLines(invocation, isPrivate)), problemsSection(warnings)],
      report: { kind: 'invocation', invocation: JSON.parse(shareable), warnings },
    };
  },
};

const toolsetKind: Kind = {
  name: 'a toolset',
  dialect: 'rap',
  isMeant: ({ tools }) => Array.isArray(tools),
  async read(json) {
    const { toolset, notes } = sound(await readToolset(json));
    const warnings = messagesOf(notes);
    return {
      sections: [linesSection(toolsetLines(toolset)), problemsSection(warnings)],
      report: { kind: 'toolset', toolset, warnings },
    };
  },
};

/** Returns an answer of a tool. @param kind its name in `-o json` */
function savedAnswer(kind: string, reading: SoundReading, { notes, source }: Json, panes?: Section): Saved {
  const warnings = [...messagesOf(notes), ...answerWarnings(reading)];
  return {
    sections: [...answerSections(kind, reading, panes), problemsSection(warnings)],
    report: { kind, ...answerReport(reading), warnings },
    answers: () => [{ ...reading, source: () => source([]) }],
  };
}

/** Returns the sections for how the call ended, what the model gets, and the other members of the answer. */
function answerSections(
  kind: string,
  reading: SoundReading,
  panes = paneSection(llmPane(reading.text, true)),
): Section[] {
  return [linesSection(answerLines(kind, reading)), panes, linesSection(besideLines(reading))];
}

const answerReport = ({ native, answer, text }: SoundReading) => ({
  message: native,
  outcome: answer.outcome,
  llm: { text },
});

const answerWarnings = ({ notes, text }: SoundReading) => [...messagesOf(notes), ...textWarnings(text)];

/** Returns the name of an answer in the agent-session API; for an unknown outcome, the name in the file. */
function kindOfAnswer({ answer: { outcome } }: SoundReading): string {
  if (outcome.type === 'unknown') return String(outcome.raw);
  return outcome.type === 'success' ? 'tool_result' : 'error_event';
}

const settledCallKind: Kind = {
  name: 'a settled call of an agent session (tool_result, error_event)',
  dialect: 'session',
  isMeant: value => 'kind' in value && 'tool_req' in value,
  read(json) {
    const reading = sound(readAs('session', json.value));
    return savedAnswer(kindOfAnswer(reading), reading, json);
  },
};

const batchSchema = z.object({ type: z.literal('batch'), results: z.array(z.unknown()) });

const batchKind: Kind = {
  name: 'a batch of settled calls of an agent session',
  dialect: 'session',
  isMeant: ({ type }) => type === 'batch',
  read({ value: native, notes, source }) {
    const { results } = sound(validate(batchSchema, native)).value;
    const readings = results.map((result, index) => sound(readAs('session', result), `$.results[${index}]`));
    const warnings = [...messagesOf(notes), ...readings.flatMap(answerWarnings)];
    const whole: SavedAnswer = { dialect: 'session', native, source: () => source([]) };
    return {
      sections: [
        ...numbered(
          'CALL',
          readings.map(reading => answerSections(kindOfAnswer(reading), reading)),
        ),
        linesSection(readings.length === 0 ? [[say('a batch without any call')]] : []),
        problemsSection(warnings),
      ],
      report: { kind: 'batch', results: readings.map(answerReport), warnings },
      answers: to => (to === 'session' ? [whole] : sourced(readings, source, index => ['results', index])),
    };
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
  isMeant: ({ status, ...rest }) =>
    typeof status === 'string' && ('new_events' in rest || 'started_at' in rest || 'finished_at' in rest),
  read({ value: message }) {
    const changes = sound(validate(changesSchema, message)).value;
    return {
      sections: changesLines(changes).map(linesSection),
      report: { kind: 'changes', message, pending: pendingIn(changes), warnings: [] },
    };
  },
};

const lmkitKind: Kind = {
  name: 'a ToolCallResult of LM-Kit',
  dialect: 'lmkit',
  isMeant: value => 'ResultJson' in value,
  read: json => savedAnswer('ToolCallResult', sound(readAs('lmkit', json.value)), json),
};

/** The result of `tools/call`. */
const mcpKind: Kind = {
  name: 'a CallToolResult of MCP',
  dialect: 'mcp',
  isMeant: ({ content, isError, structuredContent }) =>
    Array.isArray(content) || isError !== undefined || structuredContent !== undefined,
  read: json => savedMcp(json),
};

/** @param place path of the result in the whole JSON */
function savedMcp(json: Json, place = '$'): Saved {
  const reading = sound(readAs('mcp', json.value), place);
  const panes = panesOfMcp({ ...reading, reading, outcome: reading.answer.outcome });
  return savedAnswer('CallToolResult', reading, json, panesSection(panes));
}

/** The response to `tools/call` on the wire: a CallToolResult or an error, in a JSON-RPC envelope. */
const jsonRpcKind: Kind = {
  name: 'a response of JSON-RPC to tools/call',
  dialect: 'mcp',
  isMeant: value => 'jsonrpc' in value && ('result' in value || 'error' in value),
  read(json) {
    const { result, error } = isRecord(json.value) ? json.value : {};
    if (error !== undefined) return savedError(error);
    return savedMcp({ ...json, value: result, source: path => json.source(['result', ...path]) }, '$.result');
  },
};

/** Shows an error without a tool's answer; the model still gets a text. */
function savedError(error: unknown): Saved {
  const answer = readMcpAnswer({ ok: true, value: { error }, notes: [] });
  const { native, outcome, text } = answer;
  if (outcome.basis !== 'declared')
    throw new InvalidJson(['$.error: must have a code, which is a number, and a message']);
  const warnings = messagesOf(answer.notes);
  return {
    sections: [
      linesSection([[say('response of JSON-RPC', 'title')], ...outcomeLines(outcome)]),
      panesSection(panesOfMcp(answer)),
      problemsSection(warnings),
    ],
    report: { kind: 'JSON-RPC error', message: native, outcome, llm: { text }, warnings },
    answers: () => [{ answer: { call: { id: null }, outcome } }],
  };
}

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
    return {
      sections: [
        ...numbered(
          'CALL',
          calls.map(call => reportSections(call, supports)),
        ),
        problemsSection(warnings.map(asWarning)),
      ],
      report: value,
      answers: () =>
        calls.flatMap((call, index) => reportAnswers(call, path => source(['calls', index, ...path]))),
    };
  },
};

function reportSections(report: Report, supports: View['supports']): Section[] {
  const { invocation, views = [], error, warnings, llm } = report;
  const panes = resultPanes(report, supports);
  const ours = llm ? [paneSection(llmPane(llm.text, false))] : [];
  return [
    linesSection(invocation ? [callHeading(invocation.operation, invocation)] : []),
    linesSection(reportLines(report)),
    ...(panes ? [panesSection(panes)] : ours),
    ...views.map(view => paneSection(viewPane(view))),
    problemsSection(warnings.map(asWarning), error ?? null),
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
  const told = line`${quote(type ?? 'callback', 'title')} ${verdict}${isOurs && ` with ${status}`}${why}${!isOurs && answered}${took(ms)}`;
  return marked(ourStatus === 200 ? 'note' : 'failed', told);
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

/** An unknown id is added to the message. */
function asWarning({ id, message }: Report['warnings'][number]): Warning {
  if (id === undefined) return { message };
  return isRequirementId(id) ? { id, message } : { message: `${message} [${id}]` };
}

type SavedSession = z.infer<typeof sessionReportSchema>;

type SavedCall = NonNullable<SavedSession['calls']>[number];

const sessionReportKind: Kind = {
  name: 'a report of an agent session (session answer -o json)',
  dialect: 'session',
  isMeant: ({ session, calls }) => isRecord(session) && Array.isArray(calls),
  read({ value, source }) {
    const { session, calls = [], warnings, error } = sound(validate(sessionReportSchema, value)).value;
    const answer = session?.answer;
    return {
      sections: [
        linesSection(session ? sessionHead(session) : []),
        ...calls.flatMap(sessionCallSections),
        linesSection(answer === undefined ? [] : finalLines({ answer: { value: answer } })),
        problemsSection(warnings.map(asWarning), error ?? null),
      ],
      report: value,
      answers: () => sourced(calls.map(sessionAnswer), source, index => ['calls', index, 'body']),
    };
  },
};

function sessionHead({ id, url, status, rounds, error }: NonNullable<SavedSession['session']>): Line[] {
  const state = `${status ?? 'not heard of'} · ${rounds} round${rounds === 1 ? '' : 's'}`;
  return [
    [say('SESSION ', 'title'), ...quote(id, 'title'), say('  '), ...quote(state)],
    quote(url, 'dim'),
    ...(error === null ? [] : [[say('✗ ', 'bad'), ...quote(error)]]),
  ];
}

/** Returns the sections for an agent's call, and the response to its answer. */
function sessionCallSections({ key, tool_name, outcome, body, posted }: SavedCall): Section[] {
  const reading = readAs('session', body);
  const state = posted?.state ?? (body === undefined ? 'not answered' : 'not posted');
  const last = linesSection([[say('  ', 'gutter'), ...quote(state, 'dim')]]);
  if (reading.ok) return [...answerSections(kindOfAnswer(reading), reading), last];
  const heading = [...callHeading('CALL', { id: key }), say(' by ', 'dim'), ...quote(tool_name)];
  return [linesSection([heading, ...(outcome ? outcomeLines(outcome) : [])]), last];
}

/** An `error_event` does not contain the kind of failure, so it is taken from the report. */
function sessionAnswer({ outcome, body }: SavedCall): Reading {
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
  repeatsKind,
  invocationKind,
  toolsetKind,
  settledCallKind,
  batchKind,
  changesKind,
  lmkitKind,
  mcpKind,
  jsonRpcKind,
];
