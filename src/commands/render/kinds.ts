import * as z from 'zod/mini';
import type { SoundReading } from '../../dialects/dialect.js';
import { readAs } from '../../dialects/dialects.js';
import { readMcpAnswer } from '../../events/mcp-answer.js';
import { urlSecrets } from '../../events/shareable.js';
import { CALLBACK_TYPES, type Callback, readCallback } from '../../protocol/callbacks.js';
import { llmText, outcomeOfText } from '../../protocol/outcome.js';
import { type InvocationReading, readInvocation } from '../../protocol/read-invocation.js';
import { readToolset } from '../../protocol/read-toolset.js';
import type { Warning } from '../../protocol/requirements.js';
import { changesSchema } from '../../protocol/session.js';
import { validate } from '../../protocol/validate.js';
import { say } from '../../render/line.js';
import { displayReport } from '../../render/outputs/call-report.js';
import { viewPane } from '../../render/pane-lines.js';
import { llmPane, panesOfMcp, panesOfResult } from '../../render/panes.js';
import {
  changesLines,
  invocationLines,
  invocationSecrets,
  isCleared,
  messageLines,
  outcomeLines,
  pendingIn,
  problemLines,
} from '../../render/saved-answers.js';
import { toolsetLines } from '../../render/toolset.js';
import { textWarnings } from '../../render/warnings.js';
import { redactJson } from '../../util/redact.js';
import { bareUrl } from '../../util/url.js';
import { isRecord } from '../../util/values.js';
import { answerSections, kindOfAnswer, repeatsKind, reportKind, sessionReportKind } from './reports.js';
import {
  type Kind,
  linesSection,
  messagesOf,
  paneSection,
  panesSection,
  type Recognition,
  recognized,
  type Saved,
  type SavedAnswer,
  type Section,
  type View,
} from './saved.js';

const callbackKind: Kind = {
  name: `a callback (${CALLBACK_TYPES.join(', ')})`,
  dialect: 'rap',
  keys: ['type', 'group_id', 'id', 'call_id', 'text', 'content', 'display_as', 'tool_call_id', 'auth_url'],
  isMeant: ({ type }) => CALLBACK_TYPES.some(each => each === type),
  read: json =>
    recognized(readCallback(json), ({ message, native, warnings }) => ({
      sections: ({ supports, isPrivate }) => [
        linesSection(messageLines(message, isPrivate)),
        ...callbackPanes(message, supports),
        linesSection(problemLines([...warnings, ...callbackWarnings(message, supports)])),
      ],
      report: ({ supports }) => ({
        kind: message.type,
        message: shareableMessage(message, native),
        ...(message.type === 'tool_result' && resultReport(message, supports)),
        warnings: [...warnings, ...callbackWarnings(message, supports)],
      }),
      answers: () => {
        const reading = readAs('rap', native);
        return message.type === 'tool_result' && reading.ok ? [{ ...reading, at: [] }] : [];
      },
    })),
};

function callbackPanes(message: Callback, supports: View['supports']): Section[] {
  if (message.type === 'tool_result') return [panesSection(panesOfResult(message, supports))];
  if (message.type === 'subscription_event') return [paneSection(llmPane(message.text, true))];
  if (message.type !== 'view_update' || isCleared(message.content)) return [];
  return [paneSection(viewPane({ type: message.view_type, content: message.content, updates: 1 }))];
}

function callbackWarnings(message: Callback, supports: View['supports']): Warning[] {
  if (message.type === 'tool_result')
    return [...panesOfResult(message, supports).warnings, ...textWarnings(llmText(message))];
  return message.type === 'subscription_event' ? textWarnings(message.text) : [];
}

function resultReport(message: Extract<Callback, { type: 'tool_result' }>, supports: View['supports']) {
  const text = llmText(message);
  return {
    outcome: outcomeOfText(text),
    llm: { text },
    display: displayReport(panesOfResult(message, supports)),
  };
}

/** Without what gives power over a conversation: the report may be stored (threats, row 25). */
function shareableMessage(message: Callback, native: unknown): unknown {
  if (!isRecord(native)) return native;
  if (message.type === 'oauth') return { ...native, auth_url: bareUrl(message.auth_url) };
  if (message.type !== 'user_choice') return native;
  const secrets = urlSecrets([message.response_url], [message.id, message.group_id]);
  return { ...native, response_url: secrets.text(message.response_url) };
}

const invocationKind: Kind = {
  name: 'an invocation',
  dialect: 'rap',
  keys: [
    ...['operation', 'arguments', 'id', 'call_id', 'callback_url', 'group_id'],
    ...['thread_ancestors', 'user_id'],
  ],
  isMeant: value => 'operation' in value,
  read: json =>
    recognized<Extract<InvocationReading, { ok: true }>>(readInvocation(json), ({ invocation, notes }) => ({
      sections: ({ isPrivate }) => [
        linesSection(invocationLines(invocation, isPrivate)),
        linesSection(problemLines(messagesOf(notes))),
      ],
      report: () => {
        const shareable = redactJson(JSON.stringify(invocation), invocationSecrets(invocation));
        return { kind: 'invocation', invocation: JSON.parse(shareable), warnings: messagesOf(notes) };
      },
    })),
};

const toolsetKind: Kind = {
  name: 'a toolset',
  dialect: 'rap',
  keys: ['name', 'description', 'endpoint', 'tools', 'needsMigration'],
  isMeant: ({ tools }) => Array.isArray(tools),
  read: async json =>
    recognized(await readToolset(json), ({ toolset, notes }) => ({
      sections: () => [linesSection(toolsetLines(toolset)), linesSection(problemLines(messagesOf(notes)))],
      report: () => ({ kind: 'toolset', toolset, warnings: messagesOf(notes) }),
    })),
};

/** One answer of a tool. @param kind what `-o json` calls it @param notes what is odd about its JSON */
function savedAnswer(kind: string, reading: SoundReading, notes: readonly string[], panes?: Section): Saved {
  const warnings = [...messagesOf(notes), ...answerWarnings(reading)];
  return {
    sections: () => [...answerSections(kind, reading, panes), linesSection(problemLines(warnings))],
    report: () => ({ kind, message: reading.native, ...answerReport(reading), warnings }),
    answers: () => [{ ...reading, at: [] }],
  };
}

const answerReport = ({ answer, text }: SoundReading) => ({ outcome: answer.outcome, llm: { text } });

const answerWarnings = ({ notes, text }: SoundReading) => [...messagesOf(notes), ...textWarnings(text)];

const settledCallKind: Kind = {
  name: 'a settled call of an agent session (tool_result, error_event)',
  dialect: 'session',
  keys: ['kind', 'tool_req', 'result', 'error', 'origin'],
  isMeant: value => 'kind' in value && 'tool_req' in value,
  read: ({ value, notes }) =>
    recognized(readAs('session', value), reading => savedAnswer(kindOfAnswer(reading), reading, notes)),
};

const batchSchema = z.object({ type: z.literal('batch'), results: z.array(z.unknown()) });

const batchKind: Kind = {
  name: 'a batch of settled calls of an agent session',
  dialect: 'session',
  keys: ['type', 'results'],
  isMeant: ({ type }) => type === 'batch',
  read({ value, notes }) {
    const checked = validate(batchSchema, value);
    if (!checked.ok) return checked;
    const readings = checked.value.results.map(result => readAs('session', result));
    const faults = readings.flatMap((reading, index) =>
      reading.ok ? [] : reading.faults.map(fault => fault.replace(/^\$/, `$.results[${index}]`)),
    );
    if (faults.length > 0) return { ok: false, faults };
    const sound = readings.flatMap(reading => (reading.ok ? [reading] : []));
    return { ok: true, saved: savedBatch(value, sound, notes) };
  },
};

function savedBatch(native: unknown, readings: readonly SoundReading[], notes: readonly string[]): Saved {
  const warnings = [...messagesOf(notes), ...readings.flatMap(answerWarnings)];
  return {
    sections: () => [
      ...readings.flatMap((reading, index) => [
        linesSection([[say(`CALL ${index + 1} of ${readings.length}`, 'title')]]),
        ...answerSections(kindOfAnswer(reading), reading),
      ]),
      linesSection(readings.length === 0 ? [[say('a batch without any call')]] : []),
      linesSection(problemLines(warnings)),
    ],
    report: () => ({
      kind: 'batch',
      results: readings.map(reading => ({ message: reading.native, ...answerReport(reading) })),
      warnings,
    }),
    answers: (to): SavedAnswer[] =>
      to === 'session'
        ? [{ dialect: to, native, at: [] }]
        : readings.map((reading, index) => ({ ...reading, at: ['results', index] })),
  };
}

const changesKind: Kind = {
  name: 'changes of an agent session',
  dialect: 'session',
  keys: ['status', 'started_at', 'finished_at', 'error', 'answer', 'metrics', 'new_events'],
  isMeant: ({ status, ...rest }) =>
    typeof status === 'string' && ('new_events' in rest || 'started_at' in rest || 'finished_at' in rest),
  read: ({ value: message }) =>
    recognized(validate(changesSchema, message), ({ value: changes }) => ({
      sections: () => changesLines(changes).map(linesSection),
      report: () => ({ kind: 'changes', message, pending: pendingIn(changes), warnings: [] }),
    })),
};

const lmkitKind: Kind = {
  name: 'a ToolCallResult of LM-Kit',
  dialect: 'lmkit',
  keys: ['Type', 'ResultJson', 'ToolCallId', 'ToolName'],
  isMeant: value => 'ResultJson' in value,
  read: ({ value, notes }) =>
    recognized(readAs('lmkit', value), reading => savedAnswer('ToolCallResult', reading, notes)),
};

/** What `tools/call` returns. */
const mcpKind: Kind = {
  name: 'a CallToolResult of MCP',
  dialect: 'mcp',
  keys: ['content', 'isError', 'structuredContent', '_meta'],
  isMeant: ({ content, isError, structuredContent }) =>
    Array.isArray(content) || isError !== undefined || structuredContent !== undefined,
  read: ({ value, notes }) => readCallToolResult(value, notes),
};

function readCallToolResult(value: unknown, notes: readonly string[]): Recognition {
  return recognized(readAs('mcp', value), reading => {
    const panes = panesOfMcp({ ...reading, reading, outcome: reading.answer.outcome });
    return savedAnswer('CallToolResult', reading, notes, panesSection(panes));
  });
}

/** The response to `tools/call` as it is on the wire: a CallToolResult or an error, in an envelope of JSON-RPC. */
const jsonRpcKind: Kind = {
  name: 'a response of JSON-RPC to tools/call',
  dialect: 'mcp',
  keys: ['jsonrpc', 'id', 'result', 'error'],
  isMeant: value => 'jsonrpc' in value && ('result' in value || 'error' in value),
  read({ value, notes }) {
    const { result, error } = isRecord(value) ? value : {};
    if (error !== undefined) return readError(error);
    const reading = readCallToolResult(result, notes);
    if (reading.ok) return { ok: true, saved: below(['result'], reading.saved) };
    return { ok: false, faults: reading.faults.map(fault => fault.replace(/^\$/, '$.result')) };
  },
};

/** A part of a JSON value as part of the whole: its answers are below that path. */
export function below(path: readonly PropertyKey[], saved: Saved): Saved {
  const answers: Saved['answers'] = to =>
    (saved.answers?.(to) ?? []).map(answer =>
      answer.at ? { ...answer, at: [...path, ...answer.at] } : answer,
    );
  return { ...saved, answers };
}

/** No tool answered, but the model gets a text. */
function readError(error: unknown): Recognition {
  const answer = readMcpAnswer({ ok: true, value: { error }, notes: [] });
  const { native, outcome, text } = answer;
  if (outcome.basis !== 'declared')
    return { ok: false, faults: ['$.error: must have a code, which is a number, and a message'] };
  const warnings = messagesOf(answer.notes);
  const saved: Saved = {
    sections: () => [
      linesSection([[say('response of JSON-RPC', 'title')], ...outcomeLines(outcome)]),
      panesSection(panesOfMcp(answer)),
      linesSection(problemLines(warnings)),
    ],
    report: () => ({ kind: 'JSON-RPC error', message: native, outcome, llm: { text }, warnings }),
    answers: () => [{ answer: { call: { id: null }, outcome } }],
  };
  return { ok: true, saved };
}

/** Every kind of JSON object that can be shown. The first that fits is taken. */
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
