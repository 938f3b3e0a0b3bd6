import { type JSONRPCMessage, parseJSONRPCMessage } from '@modelcontextprotocol/client';
import { isRecord } from '../../util/values.js';

/** The member that holds an answer that the SDK would refuse, in the result that it gets instead. */
const INVALID = 'io.protocol-cli/invalid-answer';

/**
 * Reads a message of a server; null if it is not JSON-RPC. The SDK drops an answer with, for example, `_meta: null`, and its caller
 * would wait until the timeout; it refuses a result without `resultType`, which clients must read as complete. Such an answer is delivered
 * inside a result that the SDK accepts; see {@link receivedResult}.
 */
export function readMessage(value: unknown): JSONRPCMessage | null {
  const message = accepted(value);
  if (!isRecord(value)) return message;
  const { id, method, params, result } = value;
  const isComplete = !isRecord(result) || result['resultType'] !== undefined;
  if (message && isComplete) return message;
  if (method !== undefined)
    return isRecord(params) ? accepted({ ...value, params: withoutMeta(params) }) : null;
  if (id === undefined || !('result' in value || 'error' in value)) return null;
  const rest = isRecord(result) ? withoutMeta(result) : {};
  return accepted({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...rest, [INVALID]: value } });
}

function accepted(value: unknown): JSONRPCMessage | null {
  try {
    return parseJSONRPCMessage(value);
  } catch {
    return null;
  }
}

function withoutMeta({ _meta: _, ...rest }: Readonly<Record<string, unknown>>) {
  return rest;
}

/** The result as the server sent it; the whole answer if it has no result. */
export function receivedResult(result: unknown): unknown {
  const answer = isRecord(result) ? result[INVALID] : undefined;
  if (!isRecord(answer)) return result;
  return 'result' in answer ? answer['result'] : answer;
}

/** The message as the server sent it. */
export function receivedMessage(message: JSONRPCMessage): unknown {
  const answer = 'result' in message ? message.result[INVALID] : undefined;
  return isRecord(answer) ? answer : message;
}
