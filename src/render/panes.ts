import { humanBlockText } from '../dialects/mcp.js';
import { type Choice, chooseSegment, type Drawing } from '../display/segments.js';
import { type Exchange, llmTextOf } from '../events/exchange.js';
import type { McpAnswer } from '../events/mcp-answer.js';
import type { ToolResult } from '../protocol/callbacks.js';
import { llmText } from '../protocol/outcome.js';
import type { Warning } from '../protocol/requirements.js';
import { prettyJson } from '../util/json-format.js';
import { safeJson } from '../util/redact.js';
import { bytesText } from '../util/text.js';
import { isRecord } from '../util/values.js';
import { countUnseen } from '../util/visible.js';
import { settlementText } from './failure.js';
import { counted } from './line.js';

/** What a pane shows. No other module decides that. */
export interface Pane {
  readonly title: 'human' | 'llm' | 'view' | 'answer';
  /** Which segment was chosen, or where the text is from. */
  readonly about: string;
  /** What was skipped, and what was changed to be readable. */
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
  if (settled?.by === 'answer') return panesOfMcp(settled);
  const text = llmTextOf(exchange);
  if (text === null) return null;
  const choice = chooseSegment(undefined, supports);
  // The human reads words, not the payload for the LLM.
  const words = settled ? settlementText(exchange, settled) : '';
  const human = {
    title: 'human',
    about: 'no result from the tool',
    notes: [],
    drawing: textDrawing(words),
  } as const;
  return { choice, human, llm: llmPane(text, false), warnings: choice.warnings };
}

/** The panes of a saved result. */
export function panesOfResult(result: ToolResult, supports: ReadonlySet<string>): Panes {
  const text = llmText(result);
  const choice = chooseSegment(result.display_as, supports);
  const { chosen } = choice;
  const about = chosen
    ? `display_as[${chosen.index}] ${chosen.type} (${chosen.reason})`
    : `text (${choice.chosen === null ? choice.reason : ''})`;
  const human: Pane = {
    title: 'human',
    about,
    notes: [...skippedNotes(choice, 'display_as'), ...(chosen ? unseen(chosen.drawing) : [])],
    drawing: chosen?.drawing ?? textDrawing(text),
  };
  return { choice, human, llm: llmPane(text, true), warnings: choice.warnings };
}

/**
 * What a host would show of an MCP result, beside what the LLM gets. MCP has no display segments; the human does not see blocks that
 * are for the assistant only (`annotations.audience`).
 */
export function panesOfMcp(answer: McpAnswer): Panes {
  const { native, text, reading, outcome } = answer;
  const blocks = blocksIn(native);
  const reason = 'its audience is the assistant only';
  const skipped = blocks.flatMap((block, index) =>
    isForUser(block) ? [] : [{ index, type: block.type.slice(0, 60), reason }],
  );
  const choice: Choice = { chosen: null, reason: 'MCP has no display segments', skipped, warnings: [] };
  const structured = isRecord(native) ? native['structuredContent'] : undefined;
  const shown = [
    ...blocks.filter(isForUser).map(humanBlockText),
    ...(structured === undefined ? [] : [structuredText(structured)]),
  ].join('\n');
  const unread = outcome.type === 'error' ? outcome.message : text;
  const drawing = textDrawing(reading ? shown : unread);
  const content = `content, ${counted(blocks.length, 'block')}${structured === undefined ? '' : ', and structured content'}`;
  const faulty = outcome.basis === 'declared' ? 'error of JSON-RPC' : 'no result of MCP';
  const notes = [...skippedNotes(choice, 'content'), ...unseen(drawing)];
  const human = { title: 'human', about: reading ? content : faulty, notes, drawing } as const;
  return { human, llm: llmPane(text, reading !== null), choice, warnings: [] };
}

type Block = Readonly<Record<string, unknown>> & { readonly type: string };

function blocksIn(native: unknown): readonly Block[] {
  const content = isRecord(native) ? native['content'] : undefined;
  const isBlock = (value: unknown): value is Block => isRecord(value) && typeof value['type'] === 'string';
  return Array.isArray(content) ? content.filter(isBlock) : [];
}

function isForUser({ annotations }: Block): boolean {
  const audience = isRecord(annotations) ? annotations['audience'] : undefined;
  return !Array.isArray(audience) || audience.length === 0 || audience.includes('user');
}

/** Characters; `-o json` has all of it. */
const MOST_STRUCTURED = 200_000;

function structuredText(structured: unknown): string {
  const json = safeJson(structured, 2);
  const rest = json.length - MOST_STRUCTURED;
  return rest > 0 ? `${json.slice(0, MOST_STRUCTURED)}\n… ${rest} more characters` : json;
}

/** @param fromTool the text is the tool's own, not made by this program */
export function llmPane(text: string, fromTool: boolean): Pane {
  const pretty = prettyJson(text);
  const size = bytesText(Buffer.byteLength(text));
  return {
    title: 'llm',
    about: `${fromTool ? 'text' : 'generated by protocol-cli'}, ${size}`,
    notes: [...(pretty === null ? [] : ['pretty-printed']), ...unseen(textDrawing(text))],
    drawing: textDrawing(pretty ?? text),
  };
}

function textDrawing(text: string): Drawing {
  return { kind: 'text', text };
}

function skippedNotes({ skipped }: Choice, list: string): string[] {
  return skipped.map(({ index, type, reason }) => `skipped ${list}[${index}] ${type}: ${reason}`);
}

/** Notes that a drawing holds invisible characters; a diff has such a note for each file. */
export function unseen(drawing: Drawing): string[] {
  const count = drawing.kind === 'text' ? countUnseen(drawing.text) : 0;
  return count === 0 ? [] : [`${counted(count, 'control or invisible character')} shown`];
}
