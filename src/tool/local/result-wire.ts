import type { DialectName } from '../../dialects/dialect.js';
import { readAs } from '../../dialects/index.js';

/** What only a `tool_result` of RAP has. */
const OF_RAP = ['type', 'text', 'display_as', 'subscription', 'group_id', 'id', 'call_id'];

/**
 * For which wire a result was written that is to go out verbatim. By its form: both have `content`, and no other field in common.
 * Only a result that somebody wrote whole is looked at so; a payload never is (seed 003).
 */
export function wireOfResult(result: Readonly<Record<string, unknown>>): Extract<DialectName, 'rap' | 'mcp'> {
  if (!Array.isArray(result['content']) || OF_RAP.some(field => Object.hasOwn(result, field))) return 'rap';
  return readAs('mcp', result).ok || !readAsRap(result).ok ? 'mcp' : 'rap';
}

/** A result as `tool_result`; what it is about is filled in. */
export function readAsRap(
  result: Readonly<Record<string, unknown>>,
  { thread = '', id }: { readonly thread?: string | undefined; readonly id?: string | null } = {},
) {
  return readAs('rap', { type: 'tool_result', group_id: thread, id: id ?? '', ...result });
}
