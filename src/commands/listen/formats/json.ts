import { outcomeOf } from '../../../exchange/ending.js';
import { idOf } from '../../../exchange/judge.js';
import { shareableMessage } from '../../../exchange/shareable.js';
import { llmText } from '../../../protocol/llm-text.js';
import { panesOf } from '../../../story/panes.js';
import { safeJson } from '../../../text/json-safe.js';
import { redactJson } from '../../../text/redact-json.js';
import { callbackWarnings } from '../callback-warnings.js';
import type { Heard } from '../heard.js';
import type { Format, FormatOptions } from './format.js';

/** A line for each callback: what it was judged to be, what came, and of a result what the LLM and the human get. */
export function jsonFormat(options: FormatOptions): Format {
  const startedAt = Date.parse(options.about.startedAt);
  const write = (report: object) => redactJson(safeJson(report), options.redactor);
  return {
    begin: [],
    isWhole: false,
    lines(_, heard) {
      if (!heard) return [];
      const { at } = heard.kind === 'stray' ? heard.errand : heard.arrival;
      const time = new Date(startedAt + at).toISOString();
      return [write({ time, ...reportOf(heard, options.supports) })];
    },
    lost: dropped => [write({ dropped })],
    end: () => [],
  };
}

type HeardCallback = Extract<Heard, { kind: 'callback' }>;

function reportOf(heard: Heard, supports: ReadonlySet<string>): object {
  if (heard.kind === 'callback') return callbackReport(heard, supports);
  const { status, refusal } = heard.errand;
  return { type: null, verdict: 'rejected', status, reason: refusal };
}

function callbackReport(heard: HeardCallback, supports: ReadonlySet<string>): object {
  const { arrival, isExpected: expected } = heard;
  const { message, verdict, status, size: bytes } = arrival;
  return {
    type: message?.type ?? null,
    group_id: message?.group_id ?? null,
    id: (message && idOf(message)) ?? null,
    verdict: verdict.kind,
    status: status ?? verdict.status,
    ...('reason' in verdict && { reason: verdict.reason }),
    expected,
    bytes,
    message: message && shareableMessage(message),
    ...(verdict.kind === 'settles' && resultReport(heard, supports)),
    warnings: callbackWarnings(heard, supports),
  };
}

function resultReport({ exchange }: HeardCallback, supports: ReadonlySet<string>): object {
  const { settled } = exchange;
  const panes = panesOf(exchange, supports);
  if (settled?.by !== 'result' || !panes) return {};
  const { chosen, skipped } = panes.choice;
  return {
    message: settled.native,
    outcome: outcomeOf(exchange),
    llm: { text: llmText(settled.result) },
    display: {
      chosen: chosen?.index ?? null,
      type: chosen?.type ?? 'text',
      reason: panes.choice.chosen === null ? panes.choice.reason : panes.choice.chosen.reason,
      skipped,
    },
  };
}
