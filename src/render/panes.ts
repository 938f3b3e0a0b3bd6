import { humanBlockText } from '../dialects/mcp.js';
import { type Choice, chooseSegment, type Drawing } from '../display/segments.js';
import { type Exchange, llmTextOf, type Settlement, unreachableText } from '../events/exchange.js';
import type { McpAnswer } from '../events/mcp-answer.js';
import type { ToolResult } from '../protocol/callbacks/tool-result.js';
import { llmText } from '../protocol/outcome.js';
import type { Warning } from '../protocol/requirements.js';
import { formatDuration } from '../util/format-duration.js';
import { bytesText, isRecord } from '../util/json-diagnosis.js';
import { prettyJson } from '../util/json-pretty.js';
import { safeJson } from '../util/redact-json.js';
import { countUnseen } from '../util/visible.js';
import { givenUpWords } from './given-up.js';

/** What one of the two panes shows, and what is to be said about it. Which pane shows what is decided here and nowhere else. */
export interface Pane {
  readonly title: 'human' | 'llm' | 'view' | 'answer';
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

/** @param fromTool whether it is the tool's own text, or words of ours in its place */
export function llmPane(text: string, fromTool: boolean): Pane {
  const pretty = prettyJson(text);
  const bytes = Buffer.byteLength(text);
  const size = bytesText(bytes);
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

/** Characters; whoever wants all of it has `-o json`. */
const MOST_STRUCTURED = 200_000;

type Block = Readonly<Record<string, unknown>> & { readonly type: string };

/**
 * What a host would show of an MCP result, beside what the LLM gets. MCP has no display segments; its blocks may say whom they are
 * for (`annotations.audience`), and the human is not shown what is for the assistant only.
 */
export function panesOfMcp(answer: McpAnswer): Panes {
  const skipped = blocksIn(answer.native).flatMap((block, index) =>
    isForUser(block)
      ? []
      : [{ index, type: block.type.slice(0, 60), reason: 'it says that it is for the assistant' }],
  );
  const choice: Choice = { chosen: null, reason: 'MCP has no display segments', skipped, warnings: [] };
  const llm = llmPane(answer.text, answer.reading !== null);
  const drawing = { kind: 'text', text: humanText(answer) } as const;
  const left = skipped.map(({ index, type, reason }) => `skipped content[${index}] ${type}: ${reason}`);
  const human = {
    title: 'human',
    about: aboutOf(answer),
    notes: [...left, ...unseen(drawing)],
    drawing,
  } as const;
  return { human, llm, choice, warnings: [] };
}

function aboutOf({ native, reading, outcome }: McpAnswer): string {
  if (!reading) return outcome.basis === 'declared' ? 'error of JSON-RPC' : 'no result of MCP';
  const count = blocksIn(native).length;
  const content = `content, ${count} block${count === 1 ? '' : 's'}`;
  return structuredIn(native) === undefined ? content : `${content}, and structured content`;
}

function humanText({ native, text, reading, outcome }: McpAnswer): string {
  if (!reading) return outcome.type === 'error' ? outcome.message : text;
  const structured = structuredIn(native);
  return [
    ...blocksIn(native).filter(isForUser).map(humanBlockText),
    ...(structured === undefined ? [] : [structuredText(structured)]),
  ].join('\n');
}

function structuredText(structured: unknown): string {
  const json = safeJson(structured, 2);
  const rest = json.length - MOST_STRUCTURED;
  return rest > 0 ? `${json.slice(0, MOST_STRUCTURED)}\n… ${rest} more characters` : json;
}

function isForUser({ annotations }: Block): boolean {
  const audience = isRecord(annotations) ? annotations['audience'] : undefined;
  return !Array.isArray(audience) || audience.length === 0 || audience.includes('user');
}

/** Its reading has seen that each has a type. */
function blocksIn(native: unknown): readonly Block[] {
  const content = isRecord(native) ? native['content'] : undefined;
  return Array.isArray(content) ? content.filter(isBlock) : [];
}

function isBlock(value: unknown): value is Block {
  return isRecord(value) && typeof value['type'] === 'string';
}

function structuredIn(native: unknown): unknown {
  return isRecord(native) ? native['structuredContent'] : undefined;
}

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
