import { humanBlockText } from '../dialects/mcp.js';
import { llmTextOf, type McpAnswer, type Settlement } from '../events/exchange.js';
import type { View } from '../events/threads.js';
import type { ToolResult } from '../protocol/callbacks.js';
import { llmText } from '../protocol/outcome.js';
import type { Warning } from '../protocol/requirements.js';
import type { Diff } from '../segments/diff.js';
import { type Choice, chooseSegment, type Drawing, readView } from '../segments/segments.js';
import { exactJson } from '../util/exact-json.js';
import { prettyJson } from '../util/json-text.js';
import { safeJson } from '../util/safe-json.js';
import { bytesText, codePointEnd } from '../util/text.js';
import { isRecord } from '../util/values.js';
import { hiddenIn } from '../util/visible.js';
import { partsOf } from './diff.js';
import { settlementText } from './failure.js';
import { type Layout, type Line, pluralize, quote, SPLIT_FROM, say, textLines, UNWRAPPED } from './line.js';

/** The content of a pane, decided in this module only. */
export interface Pane {
  readonly title: 'human' | 'llm' | 'view' | 'answer';
  /** The reason for this segment, or the source of the text. */
  readonly about: string;
  /** What was skipped, and what was changed to make it readable. */
  readonly notes: readonly string[];
  readonly drawing: Drawing;
}

export interface Panes {
  readonly human: Pane;
  readonly llm: Pane;
  readonly choice: Choice;
  readonly warnings: readonly Warning[];
}

/** A call that ended, live or in a saved report. */
interface Ended {
  readonly settled:
    | Settlement
    | { readonly by: 'result'; readonly result: ToolResult }
    | ({ readonly by: 'answer' } & McpAnswer)
    | null;
}

/** The human's pane and the LLM's (RT-DISPLAY, RT-TEXT); null while the call is pending. */
export function panesOf({ settled }: Ended, supports: ReadonlySet<string>): Panes | null {
  if (settled?.by === 'result') return panesOfResult(settled.result, supports);
  if (settled?.by === 'answer') return panesOfMcp(settled);
  const text = settled && llmTextOf({ settled });
  if (settled === null || text === null) return null;
  const choice = chooseSegment(undefined, supports);
  // The human gets a sentence instead of the payload for the LLM.
  const words = settlementText(settled);
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
  const choice = chooseSegment(result.display_as, supports, text);
  const { chosen } = choice;
  const about = chosen
    ? `display_as[${chosen.index}] ${chosen.type} (${chosen.reason})`
    : `text (${choice.chosen === null ? choice.reason : ''})`;
  const human: Pane = {
    title: 'human',
    about,
    notes: [...skippedNotes(choice, 'display_as'), ...(chosen ? hiddenCharacterNotes(chosen.drawing) : [])],
    drawing: chosen?.drawing ?? textDrawing(text),
  };
  return { choice, human, llm: llmPane(text, true), warnings: choice.warnings };
}

/**
 * What a host would show for an MCP result, and what the LLM gets. MCP has no display segments; the human does not see blocks that are for
 * the assistant only (`annotations.audience`).
 */
function panesOfMcp(answer: McpAnswer): Panes {
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
  const drawing = textDrawing(reading ? shown : unreadText(answer));
  const content = `content, ${pluralize(blocks.length, 'block')}${structured === undefined ? '' : ', and structured content'}`;
  const faulty = outcome.basis === 'declared' ? 'JSON-RPC error' : 'not an MCP result';
  const notes = [...skippedNotes(choice, 'content'), ...hiddenCharacterNotes(drawing)];
  const human = { title: 'human', about: reading ? content : faulty, notes, drawing } as const;
  return { human, llm: llmPane(text, reading !== null), choice, warnings: [] };
}

/** A JSON-RPC error with its data, or why the answer is not a result, and the answer. */
function unreadText({ native, outcome, text }: McpAnswer): string {
  if (outcome.type !== 'error') return text;
  const more = outcome.basis === 'declared' ? outcome.data : (native ?? undefined);
  return more === undefined ? outcome.message : `${outcome.message}\n${structuredText(more)}`;
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

/** Maximum length of structured content, in characters; `-o json` prints all of it. */
const MAX_STRUCTURED = 200_000;

function structuredText(structured: unknown): string {
  const json = safeJson(structured, 2);
  const rest = json.length - MAX_STRUCTURED;
  return rest > 0 ? `${json.slice(0, MAX_STRUCTURED)}\n… ${rest} more characters` : json;
}

/** @param fromTool the tool wrote the text, not this program */
export function llmPane(text: string, fromTool: boolean): Pane {
  const pretty = prettyJson(text);
  const size = bytesText(Buffer.byteLength(text));
  return {
    title: 'llm',
    about: `${fromTool ? 'text' : 'generated by protocol-cli'}, ${size}`,
    notes: [...(pretty === null ? [] : ['pretty-printed']), ...hiddenCharacterNotes(textDrawing(text))],
    drawing: textDrawing(pretty ?? text),
  };
}

function textDrawing(text: string): Drawing {
  return { kind: 'text', text };
}

function skippedNotes({ skipped }: Choice, list: string): string[] {
  return skipped.map(({ index, type, reason }) => `skipped ${list}[${index}] ${type}: ${reason}`);
}

/** Notes that a drawing contains invisible characters; a diff has such a note for each file. */
function hiddenCharacterNotes(drawing: Drawing): string[] {
  const count = drawing.kind === 'text' ? hiddenIn(drawing.text).count : 0;
  return count === 0 ? [] : [`${pluralize(count, 'control or invisible character')} shown`];
}

/** A pane for the current content of a view. Content that cannot be drawn is shown unchanged, with the reason. */
export function viewPane(view: Pick<View, 'type' | 'content' | 'updates'>): Pane {
  const { type, content, updates } = view;
  const about = `${type}, updated ${updates === 1 ? 'once' : `${updates} times`}`;
  const reading = readView(view);
  const drawing = reading.ok
    ? reading.drawing
    : ({ kind: 'text', text: exactJson(content, { indent: 2 }) } as const);
  const said = reading.ok ? reading.complaint : reading.reason;
  return {
    title: 'view',
    about,
    notes: [...(said === undefined ? [] : [said]), ...hiddenCharacterNotes(drawing)],
    drawing,
  };
}

/** The layout of a complete drawing. */
interface WholeLayout extends Omit<Layout, 'count'> {
  /** Very long lines are not cut in a pipe. */
  readonly isFull?: boolean;
}

/** All lines of a pane (heading, notes, drawing), created lazily. */
export function* wholePane(pane: Pane, layout: WholeLayout): Generator<Line> {
  yield* headLines(pane);
  yield* wholeDrawing(pane.drawing, layout);
}

/** All lines of a drawing, created lazily. */
export function* wholeDrawing(drawing: Drawing, layout: WholeLayout): Generator<Line> {
  if (drawing.kind === 'text') yield* wholeText(drawing.text, layout);
  else
    for (const part of partsOf(drawing.diff, lookOf(layout)))
      for (let at = 0; at < part.height; at++) yield part.line(at);
}

/** In a pipe, very long lines are cut as in a log, unless the layout is full. */
function* wholeText(text: string, { width, isFull = false }: WholeLayout): Generator<Line> {
  if (width === UNWRAPPED && isFull) for (const line of linesOf(text, width)) yield quote(line);
  else
    for (const line of linesOf(text, width === UNWRAPPED ? undefined : width))
      yield* textLines(line, 1).lines;
}

/** Maximum length of a line, in characters. With a width, longer lines continue on the next line. */
const PIECE = 3_000;

/** Splits a text into lines; with a width, long lines continue on the next line after a multiple of it. */
function* linesOf(text: string, width = Number.POSITIVE_INFINITY): Generator<string> {
  const longest = Math.max(width, PIECE - (PIECE % width));
  for (let from = 0; from < text.length || from === 0; ) {
    const feed = text.indexOf('\n', from);
    const end = feed < 0 ? text.length : feed;
    do {
      const cut = Math.min(end, codePointEnd(text, from + longest));
      yield text.slice(from, cut);
      from = cut;
    } while (from < end);
    from = end + 1;
  }
}

function lookOf({ width = 0, isUnfolded = false, highlighter = null }: WholeLayout) {
  return { isSplit: width >= SPLIT_FROM && width !== UNWRAPPED, isUnfolded, highlighter };
}

/** The heading of a pane, its notes, at most `count` lines of its drawing, and the total number of lines. */
export function paneLines(
  pane: Pane,
  { count, ...layout }: Layout,
): { readonly lines: readonly Line[]; readonly total: number } {
  const head = headLines(pane);
  const drawn =
    pane.drawing.kind === 'diff'
      ? diffLines(pane.drawing.diff, count, layout)
      : textLines(pane.drawing.text, count);
  return { lines: [...head, ...drawn.lines], total: head.length + drawn.total };
}

/** Builds only `count` lines. */
function diffLines(diff: Diff, count: number, layout: WholeLayout) {
  const lines: Line[] = [];
  let total = 0;
  for (const part of partsOf(diff, lookOf(layout))) {
    const end = Math.min(part.height, count - total);
    for (let at = 0; at < end; at++) lines.push(part.line(at));
    total += part.height;
  }
  return { lines, total };
}

function headLines(pane: Pane): Line[] {
  return [paneHeading(pane), ...pane.notes.map(note => quote(note, 'warn'))];
}

export function paneHeading({ title, about }: Pane): Line {
  return [say(title.toUpperCase(), 'title'), say(' '), ...quote(about, 'dim')];
}
