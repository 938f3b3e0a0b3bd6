import * as z from 'zod/mini';
import type { Tool } from '../../protocol/toolset.js';
import { validate } from '../../protocol/validate.js';
import { excerpt } from '../../text/excerpt.js';
import { foreignWords } from '../../text/foreign-words.js';
import { isRecord } from '../../text/is-record.js';

/** What a server may have us ask and keep: a list of tools may have no end. */
const MOST = { pages: 200, tools: 20_000, notes: 5 };

const hint = z.optional(z.boolean());

const toolSchema = z.object({
  name: z.string().check(z.minLength(1), z.maxLength(1_024)),
  description: z.optional(z.string()),
  inputSchema: z.record(z.string(), z.unknown()),
  outputSchema: z.optional(z.unknown()),
  annotations: z.optional(z.object({ readOnlyHint: hint, destructiveHint: hint, idempotentHint: hint })),
  execution: z.optional(z.object({ taskSupport: z.optional(z.unknown()) })),
});

const pageSchema = z.object({ tools: z.array(z.unknown()), nextCursor: z.nullish(z.string()) });

export interface McpTools {
  readonly tools: readonly Tool[];
  /** What is wrong with the list: one bad tool does not spoil the others. */
  readonly notes: readonly string[];
  /** Names of the tools that can only be called as a task. */
  readonly taskOnly: ReadonlySet<string>;
}

interface Requester {
  request(
    method: string,
    params: Record<string, unknown>,
    limits: { readonly timeoutMs: number },
  ): Promise<unknown>;
}

/** Asks for `tools/list`, page after page. @param left ms that there are for all of them @throws Error where a page is none, and whatever the connection rejects with. */
export async function listTools(connection: Requester, left: () => number): Promise<McpTools> {
  const tools = new Map<string, Tool>();
  const taskOnly = new Set<string>();
  const notes: string[] = [];
  const seen = new Set<string>();
  let cursor: string | null | undefined;
  for (let pages = 1; ; pages++) {
    const page = await connection.request('tools/list', cursor ? { cursor } : {}, { timeoutMs: left() });
    const checked = validate(pageSchema, page);
    if (!checked.ok) throw new Error(checked.faults.join('; '));
    for (const each of checked.value.tools) take(each, { tools, taskOnly, notes });
    cursor = checked.value.nextCursor;
    if (!cursor) return { tools: [...tools.values()], notes: few(notes), taskOnly };
    const isEndless = seen.has(cursor) || pages >= MOST.pages || tools.size >= MOST.tools;
    if (isEndless)
      return { tools: [...tools.values()], notes: [endless(pages, tools.size), ...few(notes)], taskOnly };
    seen.add(cursor);
  }
}

function endless(pages: number, tools: number): string {
  return `the list of tools does not end: after ${pages} pages with ${tools} tools it was asked for no more`;
}

interface Collected {
  readonly tools: Map<string, Tool>;
  readonly taskOnly: Set<string>;
  readonly notes: string[];
}

function take(foreign: unknown, { tools, taskOnly, notes }: Collected): void {
  const checked = validate(toolSchema, foreign);
  if (!checked.ok) {
    const { name = '' } = isRecord(foreign) ? foreign : {};
    notes.push(`the tool ${excerpt(foreignWords(name))} cannot be used: ${checked.faults.join('; ')}`);
  } else if (tools.has(checked.value.name))
    notes.push(`the tool ${excerpt(checked.value.name)} is listed twice; the first counts`);
  else {
    const { name, execution } = checked.value;
    tools.set(name, toolOf(checked.value));
    if (execution?.taskSupport === 'required') taskOnly.add(name);
  }
}

/** A hint that it destroys something means nothing for a tool that only reads. */
function toolOf({
  name,
  description = '',
  inputSchema,
  outputSchema,
  annotations,
}: z.infer<typeof toolSchema>): Tool {
  const { readOnlyHint: readOnly, destructiveHint, idempotentHint: idempotent } = annotations ?? {};
  const destructive = readOnly === true ? undefined : destructiveHint;
  return {
    name,
    description,
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    annotations: {
      ...(readOnly !== undefined && { readOnly }),
      ...(destructive !== undefined && { destructive }),
      ...(idempotent !== undefined && { idempotent }),
    },
  };
}

function few(notes: readonly string[]): string[] {
  const rest = notes.length - MOST.notes;
  return rest > 0 ? [...notes.slice(0, MOST.notes), `and ${rest} more about the list of tools`] : [...notes];
}
