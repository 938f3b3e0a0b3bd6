import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import type { LocalTool } from '../local/local-tool.js';
import { callTool } from './call.js';
import { toolList } from './tool-list.js';

export interface McpServerOptions {
  readonly tool: Pick<LocalTool, 'call' | 'toolset'>;
  /** Of this program: `0.1.0`. */
  readonly version: string;
  /** Whether clients are told when the tools change. */
  readonly tellsChanges: boolean;
  /** The client has cancelled a call that came with this request: it gets no answer from the SDK. */
  readonly onCancelled?: (request: Request) => void;
}

/**
 * One connection's server. `tools/call` is not given to the SDK as a handler of its own: it would look results through, and drop
 * or refuse what it does not know, and a result that is written whole goes out verbatim (seed 003).
 */
export function mcpServer({ tool, version, tellsChanges, onCancelled }: McpServerOptions): Server {
  const { name, description: instructions } = tool.toolset;
  const tools = tellsChanges ? { listChanged: true } : {};
  const server = new Server(
    { name, version },
    { capabilities: { tools }, ...(instructions !== undefined && { instructions }) },
  );
  server.setRequestHandler('tools/list', () => ({ tools: toolList(tool.toolset) }));
  server.fallbackRequestHandler = (request, context) => {
    const { http, mcpReq } = context;
    const cancelled = () => http?.req && onCancelled?.(http.req);
    mcpReq.signal.addEventListener('abort', cancelled, { once: true });
    if (request.method === 'tools/call') return callTool(tool, request, context);
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
  };
  return server;
}
