import type { Answer, AnsweredCall, DialectName } from '../dialects/dialect.js';
import { readAs, writeAs } from '../dialects/dialects.js';
import { readMcpAnswer } from '../events/answer.js';
import { structureFault } from '../protocol/mcp-structure.js';
import { isRecord } from '../util/values.js';
import type { Fields, ReplyContent } from './conversation.js';

/** The wires whose results a fixture or a handler may write whole. */
export type ResultWire = Extract<DialectName, 'rap' | 'mcp'>;

/** Fields that exist only in a `tool_result` of RAP. */
const RAP_FIELDS = ['type', 'text', 'display_as', 'subscription', 'group_id', 'id', 'call_id'];

/**
 * Detects the wire of a verbatim result by its form: both wires have `content`, and no other field in common. Applies to whole results
 * only, never to a payload (seed 003).
 */
export function wireOfResult(result: Fields): ResultWire {
  if (!Array.isArray(result['content']) || RAP_FIELDS.some(field => Object.hasOwn(result, field)))
    return 'rap';
  return readAs('mcp', result).ok || !readAsRap(result).ok ? 'mcp' : 'rap';
}

/** A result as `tool_result`, with the ids of its call filled in. */
function readAsRap(result: Fields, { thread = '', id }: Partial<AnsweredCall> = {}) {
  return readAs('rap', { type: 'tool_result', group_id: thread, id: id ?? '', ...result });
}

/** Converts the answer of a local call to the common model. @param call as its wire names it */
export function answerOfLocal(call: AnsweredCall, reply: ReplyContent): Answer {
  if (reply.kind === 'payload')
    return { call, outcome: { type: 'success', basis: 'declared' }, payload: reply.payload };
  if (reply.kind === 'outcome') return { call, outcome: { ...reply.outcome, basis: 'declared' } };
  const { result } = reply;
  if (isRpcError(result)) {
    const { outcome } = readMcpAnswer({ ok: true, value: result, notes: [] });
    return { call, outcome };
  }
  const reading = wireOfResult(result) === 'mcp' ? readAs('mcp', result) : readAsRap(result, call);
  if (reading.ok) return { ...reading.answer, call };
  return { call, outcome: { type: 'success', basis: 'assumed' }, payload: result }; // keeps all of the result
}

/** Whether a verbatim result is the error of a JSON-RPC response instead of a result: `{ error: { code, message, data? } }`. */
export function isRpcError(result: Fields): result is { error: RpcError } {
  const { error, ...rest } = result;
  return (
    isRecord(error) &&
    Object.keys(rest).length === 0 &&
    Number.isSafeInteger(error['code']) &&
    typeof error['message'] === 'string'
  );
}

/** Whether a verbatim result can only be one of MCP: RAP has neither `isError` nor JSON-RPC errors. */
export function isOnlyOfMcp(result: Fields): boolean {
  return isRpcError(result) || (typeof result['isError'] === 'boolean' && wireOfResult(result) === 'mcp');
}

interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** What an MCP client knows of the tool that it calls. */
export interface OfferedTool {
  /** The `outputSchema` that the client got; undefined without one. */
  readonly outputSchema: unknown;
}

interface WrittenAnswer {
  readonly body: Record<string, unknown>;
  readonly warnings: readonly string[];
}

/** JSON-RPC error code. */
const INVALID_PARAMS = -32_602;

/**
 * Writes a CallToolResult, always with `isError` (seed 003); for an unknown tool `{ error }` of JSON-RPC.
 * @param offered null if the client calls an unknown tool
 */
export async function writeForMcp(reply: ReplyContent, offered: OfferedTool | null): Promise<WrittenAnswer> {
  if (reply.kind === 'outcome') {
    const { outcome } = reply;
    if (outcome.type !== 'error' || offered) return writeTranslated(reply);
    return { body: { error: { code: INVALID_PARAMS, message: outcome.message } }, warnings: [] };
  }
  if (reply.kind === 'verbatim' && isRpcError(reply.result))
    return { body: { ...reply.result }, warnings: [] };
  const written = reply.kind === 'verbatim' ? writeResult(reply.result) : writePayload(reply, offered);
  const fault = await structureFault(offered?.outputSchema, written.body);
  return fault === null ? written : { ...written, warnings: [...written.warnings, fault] };
}

/** A payload is never taken for a result (seed 003); one that looks like a result is probably a mistake. */
function writePayload(
  { text, payload }: Extract<ReplyContent, { kind: 'payload' }>,
  offered: OfferedTool | null,
): WrittenAnswer {
  const hasSchema = isRecord(offered?.outputSchema);
  const looksLikeResult = isRecord(payload) && Array.isArray(payload['content']) && readAs('mcp', payload).ok;
  return {
    body: { ...textResult(text), ...(hasSchema && { structuredContent: payload }) },
    warnings: looksLikeResult ? [WRAPPED_TWICE] : [],
  };
}

const WRAPPED_TWICE =
  'a payload already is a result of MCP, and was wrapped in another one; use `result` to send it as it is';

/** Sends an MCP result unchanged, valid or not; translates a RAP result; sends any other object as text. */
function writeResult(result: Fields): WrittenAnswer {
  if (wireOfResult(result) === 'mcp') {
    const reading = readAs('mcp', { isError: false, ...result });
    const warnings = reading.ok ? [] : [`an invalid MCP result was sent: ${reading.faults.join('; ')}`];
    return { body: { ...result, isError: result['isError'] ?? false }, warnings };
  }
  if (readAsRap(result).ok) return writeTranslated({ kind: 'verbatim', result });
  const warning = 'a result has neither content (MCP) nor text (RAP); it was sent as text';
  return { body: textResult(JSON.stringify(result)), warnings: [warning] };
}

function writeTranslated(reply: ReplyContent): WrittenAnswer {
  const { body, warnings } = writeAs('mcp', answerOfLocal({ id: null }, reply));
  return { body: isRecord(body) ? body : {}, warnings: warnings.map(({ message }) => message) };
}

function textResult(text: string): Record<string, unknown> {
  return { content: [{ type: 'text', text }], isError: false };
}
