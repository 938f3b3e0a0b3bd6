import * as z from 'zod/mini';
import { readHeaderParameters } from '../../protocol/mcp-headers.js';
import { readListedTool } from '../../protocol/mcp-tool.js';
import type { Tool } from '../../protocol/toolset.js';
import { validate } from '../../protocol/validate.js';
import { LIMITS } from '../../util/limits.js';
import { excerpt } from '../../util/text.js';
import { isRecord, stringOrJson } from '../../util/values.js';

const pageSchema = z.object({ tools: z.array(z.unknown()), nextCursor: z.nullish(z.string()) });

/** The tools that a server listed. */
export class ToolList {
  readonly #tools = new Map<string, Tool>();
  /** Tools that can only be called as a task. */
  readonly #taskOnly = new Set<string>();

  /** @param mirrorsArguments whether arguments are mirrored into headers, so that a tool with an invalid `x-mcp-header` is refused */
  constructor(private readonly mirrorsArguments: () => boolean) {}

  get tools(): readonly Tool[] {
    return [...this.#tools.values()];
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  needsTask(name: string): boolean {
    return this.#taskOnly.has(name);
  }

  /** Reads all pages, and returns the problems found. @throws Error if a page is not a list of tools */
  async read(requestPage: (params: Record<string, unknown>) => Promise<unknown>): Promise<readonly string[]> {
    this.#tools.clear();
    this.#taskOnly.clear();
    const notes: string[] = [];
    const seen = new Set<string>();
    for (let cursor: string | null | undefined, pages = 1; ; pages++) {
      const page = await requestPage(cursor ? { cursor } : {});
      const checked = validate(pageSchema, page);
      if (!checked.ok) throw new Error(checked.faults.join('; '));
      if (isRecord(page) && page['_meta'] !== undefined && !isRecord(page['_meta']))
        notes.push('the list of tools is not valid MCP: $._meta: must be an object');
      notes.push(...checked.value.tools.flatMap(tool => this.#add(tool) ?? []));
      cursor = checked.value.nextCursor;
      if (!cursor) return notes;
      const { size } = this.#tools;
      if (seen.has(cursor) || pages >= LIMITS.pages.value || size >= LIMITS.mcpTools.value)
        return [`the list of tools does not end; stopped after ${pages} pages with ${size} tools`, ...notes];
      seen.add(cursor);
    }
  }

  /** Adds a tool; an invalid tool does not affect the others. Returns the problem, or null. */
  #add(foreign: unknown): string | null {
    const checked = readListedTool(foreign);
    if (!checked.ok) {
      const { name = '' } = isRecord(foreign) ? foreign : {};
      return `the tool ${excerpt(stringOrJson(name))} cannot be used: ${checked.faults.join('; ')}`;
    }
    const { tool, needsTask } = checked.value;
    const { name, inputSchema } = tool;
    if (this.#tools.has(name)) return `the tool ${excerpt(name)} is listed twice; using the first`;
    const headers = readHeaderParameters(inputSchema);
    if (!headers.ok && this.mirrorsArguments())
      return `the tool ${excerpt(name)} cannot be used: ${headers.fault}`;
    this.#tools.set(name, tool);
    if (needsTask) this.#taskOnly.add(name);
    return null;
  }
}
