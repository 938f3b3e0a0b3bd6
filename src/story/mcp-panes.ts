import { humanBlockText } from '../dialects/mcp/blocks.js';
import type { Choice } from '../display/choose.js';
import type { McpAnswer } from '../exchange/mcp-answer.js';
import { isRecord } from '../text/is-record.js';
import { safeJson } from '../text/json-safe.js';
import { llmPane, type Panes, unseen } from './pane.js';

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
