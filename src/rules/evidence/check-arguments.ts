import { type ValueChecker, valueChecker } from '../../json-schema/check-value.js';
import type { Tool } from '../../protocol/toolset.js';

const checkers = new WeakMap<Tool, Promise<ValueChecker>>();

/** How arguments break the tool's `inputSchema`; null where the schema cannot be used. Each schema is compiled once. */
export async function checkArguments(tool: Tool, args: unknown): Promise<readonly string[] | null> {
  const known = checkers.get(tool) ?? valueChecker(tool.inputSchema);
  checkers.set(tool, known);
  const check = (await known)(args);
  if (check.kind === 'unusable') return null;
  return check.kind === 'valid' ? [] : check.faults.map(({ path, message }) => `${path}: ${message}`);
}
