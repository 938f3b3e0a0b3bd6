import { llmTextOf, outcomeOf } from '../exchange/ending.js';
import { acknowledgedAfter, answeredAttempt, type Exchange, type Settlement } from '../exchange/exchange.js';
import type { History } from '../exchange/history.js';
import type { Panes } from '../story/panes.js';
import { isRecord } from '../text/is-record.js';
import { since } from '../text/since.js';
import { callbackReports } from './callback-reports.js';
import { choiceReports, subscriptionReport, viewReports } from './conversation-report.js';
import type { CallReport } from './report-schema.js';

/** What is reported of one call. */
export function callReport(history: History, exchange: Exchange, panes: Panes | null): CallReport {
  const { dialect, endpoint, settled, attempts, forgotten } = exchange;
  const text = llmTextOf(exchange);
  const ackMs = acknowledgedAfter(exchange);
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
      ackMs: ackMs === null ? null : since(ackMs, 0),
      resultMs: isResult(settled) ? since(settled.at, attempts[0]?.sentAt ?? 0) : null,
    },
    callbacks: callbackReports(exchange),
    forgotten,
    subscription: subscriptionReport(exchange),
    views: viewReports(history, exchange),
    choices: choiceReports(exchange),
  };
}

function acknowledgement(exchange: Exchange): CallReport['acknowledgement'] {
  const { status, sentAt = 0, endedAt } = answeredAttempt(exchange) ?? {};
  return status === undefined || endedAt === undefined ? null : { status, ms: since(endedAt, sentAt) };
}

/** Over MCP nobody is called back. */
function invocationOf({ dialect, invocation }: Exchange): CallReport['invocation'] {
  if (dialect !== 'mcp') return invocation;
  const { callback_url: _, ...rest } = invocation;
  return rest;
}

function isResult(settled: Exchange['settled']): settled is Extract<Settlement, { by: 'result' | 'answer' }> {
  return settled?.by === 'result' || settled?.by === 'answer';
}

/** As it came: what the protocol does not know is in there too. */
function resultOf({ settled }: Exchange): CallReport['result'] {
  if (settled?.by === 'answer') return settled.reading && isRecord(settled.native) ? settled.native : null;
  if (settled?.by !== 'result') return null;
  return { ...settled.result, ...(isRecord(settled.native) && settled.native) };
}

/** Which segment the human sees, and what was passed over. */
export function displayReport({ choice }: Panes): NonNullable<CallReport['display']> {
  const { chosen } = choice;
  const skipped = choice.skipped.map(({ index, type, reason }) => ({ index, type, reason }));
  if (chosen === null) return { chosen: null, type: 'text', reason: choice.reason, skipped };
  return { chosen: chosen.index, type: chosen.type, reason: chosen.reason, skipped };
}
