import {
  type Implementation,
  type JSONRPCRequest,
  type Tool as McpToolOfServer,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type ServerOptions,
  type Transport,
} from '@modelcontextprotocol/server';
import * as z from 'zod/mini';
import { MCP_VERSIONS, WITHOUT_INITIALIZE } from '../../protocol/mcp-versions.js';
import type { Tool } from '../../protocol/toolset.js';
import { validate } from '../../protocol/validate.js';
import { truncateBeforeToken } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import { visibleLine } from '../../util/visible.js';
import { ELICIT, elicitParams } from '../client-messages.js';
import type { LocalCall, LocalTool } from '../local-tool.js';
import { AskingCall, type AskingCalls, idOf } from './asking-calls.js';
import { clientOf } from './client-of.js';

const MAX_MESSAGE = 300;

/** Logs problems with a client's messages as warnings. The SDK's texts may quote the messages. */
export function reporter(tool: LocalTool): (error: Error) => void {
  return ({ message }) => tool.mock.warn(`MCP: ${visibleLine(truncateBeforeToken(message, MAX_MESSAGE))}`);
}

const paramsSchema = z.object({
  name: z.string(),
  arguments: z.optional(z.record(z.string(), z.unknown())),
});

interface Served {
  readonly tool: LocalTool;
  readonly asking: AskingCalls;
  readonly server: Server;
}

/** The thread of calls without a session, as over stdin. */
const ONE_THREAD = 'mcp';

/**
 * Answers `tools/call`.
 * @throws ProtocolError for an invalid call or an unknown tool.
 */
async function callTool(
  { tool, asking, server }: Served,
  { params }: JSONRPCRequest,
  context: ServerContext,
): Promise<Record<string, unknown>> {
  const { mcpReq, sessionId, http } = context;
  const version = server.getNegotiatedProtocolVersion();
  const checked = validate(paramsSchema, params ?? {});
  if (!checked.ok) {
    const problem = `the call is malformed: ${checked.faults.join('; ')}`;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, problem);
  }
  const { name, arguments: args = {} } = checked.value;
  const listed = tool.mock.toolset.tools.find(each => each.name === name);
  const signal = http?.req ? AbortSignal.any([mcpReq.signal, http.req.signal]) : mcpReq.signal;
  const call = {
    operation: name,
    arguments: args,
    id: String(mcpReq.id),
    groupId: sessionId ?? ONE_THREAD,
    offered: listed ? { outputSchema: outputSchemaFor(version, listed) } : null,
    headers: http?.req ? Object.fromEntries(http.req.headers) : {},
  };
  if (version === WITHOUT_INITIALIZE) return callInRounds({ tool, asking, server }, call, context, signal);
  const { sent } = await tool.call({ ...call, signal, client: clientOf(server, context, null) });
  return sent === undefined ? silence(signal) : resultIn(sent);
}

/** Starts a call or continues it; a form is asked with the answer to the request. */
async function callInRounds(
  { tool, asking, server }: Served,
  call: LocalCall,
  context: ServerContext,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const { requestState, inputResponses } = context.mcpReq;
  const state = requestState<string>();
  const waiting = state === undefined ? new AskingCall() : asking.take(state);
  if (!waiting)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      'the requestState is unknown or was used before',
    );
  if (state === undefined) {
    const client = clientOf(server, context, waiting.ask);
    waiting.start(tool.call({ ...call, signal: waiting.signal, client }));
  } else waiting.resume(inputResponses ?? {});
  const turn = await waiting.turn(signal);
  if (turn.kind === 'end')
    return turn.answer.sent === undefined ? silence(signal) : resultIn(turn.answer.sent);
  const form = { method: ELICIT, params: elicitParams(turn.form) };
  return {
    resultType: 'input_required',
    inputRequests: { [idOf(turn.form)]: form },
    requestState: asking.wait(waiting),
  };
}

/** @throws ProtocolError for the error of a JSON-RPC response. */
function resultIn(sent: unknown): Record<string, unknown> {
  const result = isRecord(sent) ? sent : {};
  const { error } = result;
  if (isRecord(error) && Object.keys(result).length === 1)
    throw new ProtocolError(Number(error['code']), String(error['message']), error['data']);
  return result;
}

/** Never resolves; rejects when the request is canceled. */
function silence(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(new ProtocolError(ProtocolErrorCode.InternalError, 'the call was canceled'));
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}

/** The versions that allow any JSON Schema as `outputSchema`, or one for objects; older versions have no `outputSchema`. */
const OUTPUT_SCHEMA_SINCE = { any: WITHOUT_INITIALIZE, object: '2025-06-18' };

/** The `outputSchema` of a tool, unchanged; undefined if this version of MCP does not allow it. */
function outputSchemaFor(version = '', { outputSchema }: Tool): Record<string, unknown> | undefined {
  const { any, object } = OUTPUT_SCHEMA_SINCE;
  const isAllowed =
    isRecord(outputSchema) && (version >= any || (version >= object && outputSchema['type'] === 'object'));
  return isAllowed ? outputSchema : undefined;
}

function listedTool(tool: Tool, version: string | undefined): McpToolOfServer {
  const { name, description, inputSchema, annotations } = tool;
  const outputSchema = outputSchemaFor(version, tool);
  const { readOnly, destructive, idempotent } = annotations ?? {};
  const hints = {
    ...(readOnly !== undefined && { readOnlyHint: readOnly }),
    ...(destructive !== undefined && { destructiveHint: destructive }),
    ...(idempotent !== undefined && { idempotentHint: idempotent }),
  };
  return {
    name,
    description,
    inputSchema: { ...inputSchema, type: 'object' }, // MCP requires a `type`, and arguments are always objects
    ...(outputSchema && { outputSchema: outputSchema as NonNullable<McpToolOfServer['outputSchema']> }),
    ...(annotations && { annotations: hints }),
  };
}

/** Lists every version in `server/discover`; the SDK lists only those without `initialize`. */
class MockServer extends Server {
  constructor(
    info: Implementation,
    private readonly options: ServerOptions,
  ) {
    super(info, options);
  }

  override async connect(transport: Transport): Promise<void> {
    this.setRequestHandler('server/discover', () => {
      const { instructions } = this.options;
      return {
        supportedVersions: [...MCP_VERSIONS],
        capabilities: this.getCapabilities(),
        ...(instructions !== undefined && { instructions }),
      };
    });
    await super.connect(transport);
  }
}

/**
 * Creates the server of one connection. `tools/call` bypasses the SDK's handlers: they would validate results and drop or refuse
 * unknown fields, but a whole result is sent verbatim (seed 003).
 * @param onCanceled called when the client cancels the call of this request, which then gets no answer from the SDK
 */
export function mcpServer(
  tool: LocalTool,
  asking: AskingCalls,
  { program = 'protocol-cli/0' }: { readonly program?: string },
  onCanceled?: (request: Request) => void,
): Server {
  const { name, description: instructions } = tool.mock.toolset;
  const tools = onCanceled ? {} : { listChanged: true }; // no streams over HTTP to notify clients
  const server = new MockServer(
    { name, version: program.slice(program.indexOf('/') + 1) },
    { capabilities: { tools, logging: {} }, ...(instructions !== undefined && { instructions }) },
  );
  const version = () => server.getNegotiatedProtocolVersion();
  server.setRequestHandler('tools/list', () => ({
    tools: tool.mock.toolset.tools.map(each => listedTool(each, version())),
  }));
  server.fallbackRequestHandler = (request, context) => {
    const { http, mcpReq } = context;
    const canceled = () => http?.req && onCanceled?.(http.req);
    mcpReq.signal.addEventListener('abort', canceled, { once: true });
    if (request.method === 'tools/call') return callTool({ tool, asking, server }, request, context);
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
  };
  return server;
}
