import {
  type JSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod/mini';
import { validate } from '../../protocol/validate.js';
import { isRecord } from '../../text/is-record.js';
import type { LocalTool } from '../local/local-tool.js';

const paramsSchema = z.object({
  name: z.string(),
  arguments: z.optional(z.record(z.string(), z.unknown())),
});

/** Calls without a session, as over stdin, have this thread. */
const ONE_THREAD = 'mcp';

/**
 * Answers `tools/call`.
 * @param gone aborted where nobody waits any more, besides the protocol's own word for it
 * @throws ProtocolError for what is no call, and for a tool that there is not.
 */
export async function callTool(
  tool: Pick<LocalTool, 'call'>,
  { params }: JSONRPCRequest,
  { mcpReq, sessionId, http }: ServerContext,
): Promise<Record<string, unknown>> {
  const checked = validate(paramsSchema, params ?? {});
  if (!checked.ok)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `the call is malformed: ${checked.faults.join('; ')}`,
    );
  const { name, arguments: args = {} } = checked.value;
  const signal = http?.req ? AbortSignal.any([mcpReq.signal, http.req.signal]) : mcpReq.signal;
  const { sent } = await tool.call({
    operation: name,
    arguments: args,
    id: String(mcpReq.id),
    groupId: sessionId ?? ONE_THREAD,
    headers: http?.req ? Object.fromEntries(http.req.headers) : {},
    signal,
  });
  if (sent === undefined) return silence(signal);
  return resultOf(sent);
}

/** @throws ProtocolError for an error of the protocol. */
function resultOf(sent: unknown): Record<string, unknown> {
  const result = isRecord(sent) ? sent : {};
  const { error } = result;
  if (isRecord(error) && Object.keys(result).length === 1)
    throw new ProtocolError(Number(error['code']), String(error['message']));
  return result;
}

/** No answer, for as long as somebody waits for one. */
function silence(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(new ProtocolError(ProtocolErrorCode.InternalError, 'the call was cancelled'));
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
