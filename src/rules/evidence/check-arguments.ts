import { type ValueChecker, valueChecker } from '../../json-schema/check-value.js';
import type { Tool } from '../../protocol/toolset.js';

const checkers = new WeakMap<Tool, Promise<ValueChecker>>();

const UNUSABLE: Promise<ValueChecker> = Promise.resolve(() => ({ kind: 'unusable', reason: '' }));

/** How arguments break the tool's `inputSchema`; null where the schema cannot be used. Each schema is compiled once. */
export async function checkArguments(tool: Tool, args: unknown): Promise<readonly string[] | null> {
  const known = checkers.get(tool) ?? valueChecker(tool.inputSchema);
  checkers.set(tool, known);
  const check = (await known)(args);
  if (check.kind === 'unusable') {
    checkers.set(tool, UNUSABLE); // what took too long once is not tried for each of a thousand calls
    return null;
  }
  return check.kind === 'valid' ? [] : check.faults.map(({ path, message }) => `${path}: ${message}`);
}
