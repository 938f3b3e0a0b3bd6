import { llmTextOf, outcomeOf } from '../exchange/ending.js';
import { acknowledgedAfter, answeredAttempt, type Exchange } from '../exchange/exchange.js';
import type { History } from '../exchange/history.js';
import type { Warning } from '../protocol/requirements.js';
import { type Panes, panesOf } from '../story/panes.js';
import { warningsOf } from '../story/warnings.js';
import { writeOut } from '../system/output.js';
import { safeJson } from '../text/json-safe.js';
import { bareUrl, type Redactor } from '../text/redact.js';
import { redactJson } from '../text/redact-json.js';
import type { Ending, Paper, Reporter } from './reporter.js';
import { errorReport, troubleText } from './trouble.js';
import { urgentTeller } from './urgent.js';

/** One object at the end, as the contract has it; where the call failed, as far as it got, with `error`. */
export function jsonReporter(
  history: History,
  paper: Paper,
  redactor: Redactor,
  supports: ReadonlySet<string>,
): Reporter {
  return {
    event: urgentTeller(history, paper),
    async end(ending: Ending) {
      const report = redactJson(safeJson(invokeReport(ending, supports), 2), redactor);
      await writeOut(paper.stdout, `${report}\n`);
      if (ending.trouble) paper.stderr.write(troubleText(ending.trouble));
    },
  };
}

/** The report as a value; undefined members are left out of the JSON. */
export function invokeReport(
  { history, exchange, notes, trouble }: Ending,
  supports: ReadonlySet<string>,
): object {
  const panes = exchange ? panesOf(exchange, supports) : null;
  const warnings: readonly Warning[] = [
    ...notes,
    ...warningsOf(history, exchange),
    ...(panes?.warnings ?? []),
  ];
  return {
    ...(exchange && callReport(exchange, panes)),
    warnings,
    ...(trouble && { error: errorReport(trouble) }),
  };
}

function callReport(exchange: Exchange, panes: Panes | null): object {
  const { invocation, endpoint, settled } = exchange;
  const text = llmTextOf(exchange);
  const sentAt = exchange.attempts[0]?.sentAt ?? 0;
  const ackMs = acknowledgedAfter(exchange);
  return {
    invocation,
    endpoint,
    acknowledgement: acknowledgement(exchange),
    outcome: outcomeOf(exchange),
    result: settled?.by === 'result' ? settled.native : null,
    llm: text === null ? null : { text },
    display: panes && display(panes),
    timing: {
      ackMs: ackMs === null ? null : since(ackMs, 0),
      resultMs: settled?.by === 'result' ? since(settled.at, sentAt) : null,
    },
    callbacks: exchange.arrivals.map(({ at, verdict, message, status, size }) => ({
      type: message?.type ?? null,
      ms: since(at, sentAt),
      verdict: verdict.kind,
      status: status ?? verdict.status,
      ...('reason' in verdict && { reason: verdict.reason }),
      bytes: size,
      ...(message?.type === 'oauth' && { auth_url: bareUrl(message.auth_url) }),
    })),
  };
}

function acknowledgement(exchange: Exchange): object | null {
  const attempt = answeredAttempt(exchange);
  return attempt?.endedAt === undefined
    ? null
    : { status: attempt.status, ms: since(attempt.endedAt, attempt.sentAt) };
}

/** Milliseconds, without the noise that subtracting decimals makes. */
function since(at: number, start: number): number {
  return Math.round((at - start) * 1_000) / 1_000;
}

function display({ choice }: Panes): object {
  const { chosen, skipped } = choice;
  if (chosen === null) return { chosen: null, type: 'text', reason: choice.reason, skipped };
  return { chosen: chosen.index, type: chosen.type, reason: chosen.reason, skipped };
}
