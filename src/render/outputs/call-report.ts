import type { DialectName } from '../../dialects/dialect.js';
import { translate } from '../../dialects/dialects.js';
import { answerOf } from '../../events/answer.js';
import {
  type Arrival,
  acknowledgedAfter,
  answeredAttempt,
  type Exchange,
  llmTextOf,
  outcomeOf,
  type Settlement,
} from '../../events/exchange.js';
import type { History } from '../../events/history.js';
import { shareableMessage } from '../../events/shareable.js';
import { elapsedMs } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import { eventOf } from '../callbacks.js';
import { type Panes, panesOf } from '../panes.js';
import { warningsOfEnding } from '../warnings.js';
import type { Ending, Page, Reporter } from './reporter.js';
import type { CallReport, Report } from './schemas.js';
import { errorReport } from './trouble.js';

type CallbackReport = CallReport['callbacks'][number];

/** Reports everything that arrived at a call's callback URL. */
function callbackReports({ arrivals, attempts, dialect }: Exchange): CallbackReport[] {
  if (dialect === 'mcp') return []; // requests of the server are not callbacks
  const sentAt = attempts[0]?.sentAt ?? 0;
  return arrivals.map(arrival => callbackReport(arrival, sentAt));
}

function callbackReport(
  { at, verdict, message, status, broken, size }: Arrival,
  sentAt: number,
): CallbackReport {
  return {
    type: message?.type ?? null,
    ms: elapsedMs(at, sentAt),
    verdict: verdict.kind,
    status: status ?? (broken === undefined ? verdict.status : null),
    ...((status ?? verdict.status) !== verdict.status && { ourStatus: verdict.status }),
    ...('reason' in verdict && { reason: verdict.reason }),
    bytes: size,
    ...(message?.type === 'subscription_event' && { text: message.text }),
    ...(message?.type === 'oauth' && { auth_url: shareableMessage(message).auth_url }),
  };
}

/**
 * The subscription of a call, and the calls that a runtime adds to the conversation for its events; no model made them (RT-SUB; public
 * RAP specification, "Synthetic tool calls"). Null without one.
 */
function subscriptionReport({ invocation, arrivals, subscription }: Exchange): CallReport['subscription'] {
  if (subscription === null) return null;
  const { group_id, thread_ancestors } = invocation;
  const ancestors = thread_ancestors ?? [];
  const calls = arrivals.flatMap(arrival => {
    const event = eventOf(arrival);
    if (!event) return [];
    const { tool_call_id, text, associative } = event;
    const place = associative
      ? { placement: 'thread' as const, thread_ancestors: [...ancestors] }
      : { placement: 'child-thread' as const, thread_ancestors: [...ancestors, group_id] };
    return [{ name: 'receive_event' as const, arguments: { tool_call_id }, text, ...place }];
  });
  return { events: subscription.events, ended: subscription.ended?.by ?? null, calls };
}

/** The questions to the user, and the selected choices (RT-CHOICE). */
function choiceReports(exchange: Exchange): CallReport['choices'] {
  const { questions, selections } = exchange;
  return questions.flatMap(({ leg, message }) => {
    if (message.type !== 'user_choice') return [];
    const { selected = null, by = null } = selections.find(({ question }) => question === leg) ?? {};
    return [{ prompt: message.prompt, selected, by }];
  });
}

function callReport(history: History, exchange: Exchange, panes: Panes | null): CallReport {
  const { dialect, endpoint, settled, attempts, forgotten } = exchange;
  const text = llmTextOf(exchange);
  const ackMs = acknowledgedAfter(exchange);
  const views = history.threads.get(exchange.invocation.group_id)?.views.values() ?? []; // RT-VIEW
  return {
    ...(dialect && { dialect }),
    invocation: invocationOf(exchange),
    endpoint,
    acknowledgement: acknowledgement(exchange),
    outcome: outcomeOf(exchange),
    result: resultOf(exchange),
    llm: text === null ? null : { text },
    display: panes && displayReport(panes),
    timing: {
      ackMs: ackMs === null ? null : elapsedMs(ackMs, 0),
      resultMs: isResult(settled) ? elapsedMs(settled.at, attempts[0]?.sentAt ?? 0) : null,
    },
    callbacks: callbackReports(exchange),
    forgotten,
    subscription: subscriptionReport(exchange),
    views: [...views].map(({ type, content, updates }) => ({ type, content, updates })),
    choices: choiceReports(exchange),
  };
}

function acknowledgement(exchange: Exchange): CallReport['acknowledgement'] {
  const { status, sentAt = 0, endedAt } = answeredAttempt(exchange) ?? {};
  return status === undefined || endedAt === undefined ? null : { status, ms: elapsedMs(endedAt, sentAt) };
}

/** MCP has no callbacks. */
function invocationOf({ dialect, invocation }: Exchange): CallReport['invocation'] {
  if (dialect !== 'mcp') return invocation;
  const { callback_url: _, ...rest } = invocation;
  return rest;
}

function isResult(settled: Exchange['settled']): settled is Extract<Settlement, { by: 'result' | 'answer' }> {
  return settled?.by === 'result' || settled?.by === 'answer';
}

/** Unchanged, including fields that the protocol does not define. */
function resultOf({ settled }: Exchange): CallReport['result'] {
  if (settled?.by === 'answer') return settled.reading && isRecord(settled.native) ? settled.native : null;
  if (settled?.by !== 'result') return null;
  return { ...settled.result, ...(isRecord(settled.native) && settled.native) };
}

/** The segment that the human sees, and those that were skipped. */
export function displayReport({ choice }: Panes): NonNullable<CallReport['display']> {
  const { chosen } = choice;
  const skipped = choice.skipped.map(({ index, type, reason }) => ({ index, type, reason }));
  if (chosen === null) return { chosen: null, type: 'text', reason: choice.reason, skipped };
  return { chosen: chosen.index, type: chosen.type, reason: chosen.reason, skipped };
}

/** See `reportSchema`. */
export function invokeReport(ending: Ending, supports: ReadonlySet<string>): Report {
  const { history, exchange, trouble } = ending;
  const panes = exchange ? panesOf(exchange, supports) : null;
  return {
    ...(exchange && callReport(history, exchange, panes)),
    warnings: warningsOfEnding(ending, panes?.warnings),
    ...(trouble && { error: errorReport(trouble) }),
  };
}

/** Prints the answer in another system's format at the end, or nothing without an answer. Warns of data that the format cannot hold. */
export function dialectReporter(page: Page, dialect: DialectName): Reporter {
  return {
    event: page.urgent,
    async end(ending) {
      const { exchange, trouble } = ending;
      const answer = exchange && answerOf(exchange, outcomeOf(exchange));
      const writing = answer && translate(answer, dialect);
      if (writing) await page.object(writing.body, null);
      await page.end(warningsOfEnding(ending, writing?.warnings), trouble);
    },
  };
}
