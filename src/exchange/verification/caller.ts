import { isRecord } from '../../text/is-record.js';
import { readJson } from '../../text/json.js';
import type { Content } from '../content.js';

/** Who called, in the words of the invocation; null what it does not say. */
export interface Caller {
  readonly operation: string | null;
  readonly id: string | null;
  readonly group_id: string | null;
  /** The callback URL as it was given: not for other eyes. */
  readonly callbackUrl: string | null;
}

export const NOBODY: Caller = { operation: null, id: null, group_id: null, callbackUrl: null };

export function callerOf(invocation: Content): Caller {
  const fields = fieldsOf(invocation);
  return {
    operation: briefly(textAt(fields, 'operation'), 256),
    id: briefly(textAt(fields, 'id'), 256),
    group_id: briefly(textAt(fields, 'group_id'), 256),
    callbackUrl: briefly(textAt(fields, 'callback_url'), 4_096),
  };
}

const BEGINNING = Buffer.from('{"type":"tool_result"');
const NAME = Buffer.from('tool_result');

/** Without reading a long message: nearly every one begins with its type, and one that does not name it has another. */
export function isToolResult(callback: Content): boolean {
  const { buffer, byteOffset, length } = callback.bytes;
  const bytes = Buffer.from(buffer, byteOffset, length);
  if (bytes.subarray(0, BEGINNING.length).equals(BEGINNING)) return true;
  return bytes.includes(NAME) && typeOf(callback) === 'tool_result';
}

export function typeOf(callback: Content): string | null {
  return textAt(fieldsOf(callback), 'type');
}

/** What went wrong, in the words of a result of RAP or of MCP, or of an error of JSON-RPC. */
export function errorTextOf(result: Content): string | null {
  const fields = fieldsOf(result);
  const { content, error } = fields ?? {};
  const [block] = Array.isArray(content) ? content : [];
  const text = textAt(fields, 'text') ?? textAt(block, 'text') ?? textAt(error, 'message');
  return text === null ? null : briefly(text.replace(/^Error: /, ''), 4_096);
}

/** Read anew each time: a journal holds on to the bytes, and is not to hold on to what they say as well. */
function fieldsOf({ bytes }: Content): Record<string, unknown> | null {
  const json = readJson(bytes);
  return json.ok && isRecord(json.value) ? json.value : null;
}

function textAt(fields: unknown, key: string): string | null {
  const value = isRecord(fields) && Object.hasOwn(fields, key) ? fields[key] : null;
  return typeof value === 'string' ? value : null;
}

/** What is remembered for long has to be short. A copy: a part of a text holds on to all of it. */
function briefly<T extends string | null>(text: T, most: number): T | string {
  return text === null || text.length <= most ? text : `${Buffer.from(text.slice(0, most)).toString()}…`;
}
