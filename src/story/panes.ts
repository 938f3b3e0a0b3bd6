import { type Choice, chooseSegment, type Drawing } from '../display/choose.js';
import { llmTextOf } from '../exchange/ending.js';
import type { Exchange, Settlement } from '../exchange/exchange.js';
import type { ToolResult } from '../protocol/callbacks/index.js';
import { llmText } from '../protocol/llm-text.js';
import type { Warning } from '../protocol/requirements.js';
import { formatDuration } from '../text/format-duration.js';
import { prettyJson } from '../text/json-pretty.js';
import { countUnseen } from '../text/visible.js';

/** What one of the two panes shows, and what is to be said about it. Which pane shows what is decided here and nowhere else. */
export interface Pane {
  readonly title: 'human' | 'llm' | 'view';
  /** In a few words: which segment was chosen, or where the text is from. */
  readonly about: string;
  /** What was passed over, what was altered for the eye. */
  readonly notes: readonly string[];
  readonly drawing: Drawing;
}

export interface Panes {
  readonly human: Pane;
  readonly llm: Pane;
  readonly choice: Choice;
  readonly warnings: readonly Warning[];
}

/** What the human sees beside what the LLM gets (RT-DISPLAY, RT-TEXT); null while the call is pending. */
export function panesOf(exchange: Exchange, supports: ReadonlySet<string>): Panes | null {
  const { settled } = exchange;
  if (settled?.by === 'result') return panesOfResult(settled.result, supports);
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
function ourPane({ settled }: Exchange): Pane {
  const drawing = { kind: 'text', text: settled ? settlementWords(settled) : '' } as const;
  return { title: 'human', about: 'no result from the tool', notes: [], drawing };
}

function settlementWords(settled: Settlement): string {
  switch (settled.by) {
    case 'result':
      return 'the result is here';
    case 'refusal':
      return `the tool answered ${settled.status} instead of 200`;
    case 'unreachable':
      return `the tool could not be reached (${settled.code})`;
    case 'timeout':
      return `no result within ${formatDuration(settled.afterMs)}`;
    case 'denial':
      return `not called: ${settled.reason}`;
    case 'cancel':
      return 'interrupted';
  }
}

/** @param fromTool whether it is the tool's own text, or words of ours in its place */
export function llmPane(text: string, fromTool: boolean): Pane {
  const pretty = prettyJson(text);
  const bytes = Buffer.byteLength(text);
  const size = `${bytes} byte${bytes === 1 ? '' : 's'}`;
  return {
    title: 'llm',
    about: fromTool ? `text, ${size}` : `made by this runtime, ${size}`,
    notes: [...(pretty === null ? [] : ['indented here; sent as it is']), ...unseen({ kind: 'text', text })],
    drawing: { kind: 'text', text: pretty ?? text },
  };
}

/** Says that what is drawn holds characters that nobody would see; a diff says so by itself, file by file. */
export function unseen(drawing: Drawing): string[] {
  const count = drawing.kind === 'text' ? countUnseen(drawing.text) : 0;
  return count === 0 ? [] : [`${count} control or invisible character${count === 1 ? '' : 's'} shown`];
}
