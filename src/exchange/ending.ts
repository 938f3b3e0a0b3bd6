import { outcomeOfText, textOfOutcome } from '../outcome/conventions.js';
import type { JudgedOutcome } from '../outcome/outcome.js';
import { llmText } from '../protocol/llm-text.js';
import { cut } from '../text/cut.js';
import type { Exchange, Settlement } from './exchange.js';

const EXCERPT = 200;

/** How the call ended; null while it is pending. */
export function outcomeOf({ settled }: Exchange): JudgedOutcome | null {
  return settled && judged(settled);
}

/** Exactly what the LLM gets: the tool's text, or the words for an outcome of our own making; null while it is pending. */
export function llmTextOf({ settled }: Exchange): string | null {
  if (settled?.by === 'result') return llmText(settled.result);
  if (settled?.by === 'answer') return settled.text;
  return settled && textOfOutcome(judged(settled));
}

function judged(settled: Settlement): JudgedOutcome {
  switch (settled.by) {
    case 'result':
      return outcomeOfText(llmText(settled.result));
    case 'answer':
      return settled.outcome;
    case 'refusal':
      return { type: 'error', message: refusalText(settled.status, settled.excerpt), basis: 'ours' };
    case 'unreachable':
      return { type: 'error', message: unreachableText(settled), basis: 'ours' };
    case 'timeout':
      return { type: 'timeout', durationMs: settled.afterMs, basis: 'ours' };
    case 'denial':
      return { type: 'denied', tool: settled.tool, reason: settled.reason, basis: 'ours' };
    case 'cancel':
      return { type: 'canceled', by: settled.who === 'person' ? 'user' : 'policy', basis: 'ours' };
  }
}

export function unreachableText({ reason, code }: Extract<Settlement, { by: 'unreachable' }>): string {
  return reason ?? `the tool could not be reached (${code})`;
}

function refusalText(status: number, excerpt: string): string {
  const said = cut(excerpt.trim(), EXCERPT);
  return `the tool did not accept the invocation: it answered ${status} instead of 200${said ? `: ${said}` : ''}`;
}
