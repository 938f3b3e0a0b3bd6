import { type ValueCheck, type ValueChecker, valueChecker } from '../../json-schema/check-value.js';
import type { Tool, Toolset } from '../../protocol/toolset.js';
import { safeJson } from '../../text/json-safe.js';
import { nearest } from '../../text/nearest.js';

/** What a tool offers, apart from where. */
export type ToolsetFields = Omit<Toolset, 'endpoint'>;

/** Decides whether an invocation may be carried out at all (TOOL-VALIDATE). */
export class Operations {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #compiling = new Map<string, Promise<ValueChecker>>();
  readonly #checkers = new Map<string, ValueChecker>();

  constructor(readonly toolset: ToolsetFields) {
    this.#tools = new Map(toolset.tools.map(tool => [tool.name, tool]));
  }

  /** Why a call cannot be carried out, for the LLM to do better; null where it can (TOOL-UNKNOWN-OP, TOOL-BAD-ARGS). */
  problem(operation: string, args: unknown): string | null | Promise<string | null> {
    const tool = this.#tools.get(operation);
    if (!tool) return this.#unknown(operation);
    const check = this.#checkers.get(operation);
    return check ? problemOf(operation, check(args)) : this.#firstProblem(tool, args);
  }

  /** The schema is compiled when it is first needed; calls keep their order, since they wait for the same promise. */
  async #firstProblem(tool: Tool, args: unknown): Promise<string | null> {
    const compiling = this.#compiling.get(tool.name) ?? valueChecker(tool.inputSchema);
    this.#compiling.set(tool.name, compiling);
    const check = await compiling;
    this.#checkers.set(tool.name, check);
    return problemOf(tool.name, check(args));
  }

  #unknown(operation: string): string {
    const names = [...this.#tools.keys()];
    const [near] = nearest(operation, names);
    const meant = near === undefined ? '' : ` Did you mean ${near}?`;
    return `unknown operation ${safeJson(operation)}.${meant} Use one of ${names.join(', ')}.`;
  }
}

function problemOf(operation: string, check: ValueCheck): string | null {
  if (check.kind === 'valid') return null;
  if (check.kind === 'unusable' && check.isUnknownDraft) return null;
  if (check.kind === 'unusable') return `the arguments of ${operation} cannot be checked: ${check.reason}`;
  const faults = check.faults.map(({ path, message }) => `${path} ${message}`).join('; ');
  return `the arguments do not fit: ${faults}. Correct them and call again.`;
}
