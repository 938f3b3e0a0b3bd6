import { type Choice, chooseSegment } from '../display/choose.js';
import { llmTextOf, unreachableText } from '../exchange/ending.js';
import type { Exchange, Settlement } from '../exchange/exchange.js';
import type { ToolResult } from '../protocol/callbacks/index.js';
import { llmText } from '../protocol/llm-text.js';
import { formatDuration } from '../text/format-duration.js';
import { givenUpWords } from './given-up.js';
import { panesOfMcp } from './mcp-panes.js';
import { llmPane, type Pane, type Panes, unseen } from './pane.js';

export { llmPane, type Pane, type Panes } from './pane.js';

/** What the human sees beside what the LLM gets (RT-DISPLAY, RT-TEXT); null while the call is pending. */
export function panesOf(exchange: Exchange, supports: ReadonlySet<string>): Panes | null {
  const { settled } = exchange;
  if (settled?.by === 'result') return panesOfResult(settled.result, supports);
  if (settled?.by === 'answer') return panesOfMcp(settled);
  const text = llmTextOf(exchange);
  if (text === null) return null;
  const choice = chooseSegment(undefined, supports);
  return { choice, human: ourPane(exchange), llm: llmPane(text, false), warnings: choice.warnings };
}

/** The same for a result by itself, as it is saved. */
export function panesOfResult(result: ToolResult, supports: ReadonlySet<string>): Panes {
  const text = llmText(result);
  const choice = chooseSegment(result.display_as, supports);
  return { choice, human: humanPane(choice, text), llm: llmPane(text, true), warnings: choice.warnings };
}

function humanPane(choice: Choice, text: string): Pane {
  const notes = choice.skipped.map(
    ({ index, type, reason }) => `skipped display_as[${index}] ${type}: ${reason}`,
  );
  if (choice.chosen === null)
    return { title: 'human', about: `text (${choice.reason})`, notes, drawing: { kind: 'text', text } };
  const { index, type, reason, drawing } = choice.chosen;
  return {
    title: 'human',
    about: `display_as[${index}] ${type} (${reason})`,
    notes: [...notes, ...unseen(drawing)],
    drawing,
  };
}

/** Where the tool sent no result, a person reads words, not the payload for the LLM. */
function ourPane(exchange: Exchange): Pane {
  const { settled } = exchange;
  const drawing = { kind: 'text', text: settled ? settlementWords(exchange, settled) : '' } as const;
  return { title: 'human', about: 'no result from the tool', notes: [], drawing };
}

function settlementWords(exchange: Exchange, settled: Settlement): string {
  switch (settled.by) {
    case 'result':
    case 'answer':
      return 'the result is here';
    case 'refusal':
      return `the tool answered ${settled.status} instead of 200`;
    case 'unreachable':
      return unreachableText(settled);
    case 'timeout':
      return `no result within ${formatDuration(settled.afterMs)}`;
    case 'denial':
      return `not called: ${settled.reason}`;
    case 'cancel':
      return givenUpWords(exchange, settled);
  }
}
