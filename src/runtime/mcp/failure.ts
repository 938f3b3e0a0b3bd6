import { ProtocolError, SdkError, SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client';
import { TransportError } from '../../http/client.js';
import { excerpt } from '../../util/text.js';

/** What a request was rejected with, in the terms of a transcript. */
type McpFailure =
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  | { readonly kind: 'status'; readonly status: number; readonly text: string }
  | { readonly kind: 'broken'; readonly phase: string; readonly code: string };

export function failureOfMcp(error: unknown): McpFailure {
  if (error instanceof ProtocolError) {
    const { code, message, data } = error;
    return { kind: 'error', code, message, ...(data !== undefined && { data }) };
  }
  if (error instanceof SdkHttpError) {
    const { text } = error.data;
    return { kind: 'status', status: error.status, text: typeof text === 'string' ? text : '' };
  }
  if (error instanceof UnauthorizedError) return { kind: 'status', status: 401, text: '' };
  if (error instanceof TransportError) return { kind: 'broken', phase: error.phase, code: error.code };
  return { kind: 'broken', phase: 'answer', code: error instanceof SdkError ? error.code : 'UNREADABLE' };
}

export const VERSION_HINT = 'Does it offer tools, and does it speak a current version of MCP?';

export const DOWNLOAD_HINT = 'If the command downloads first, as npx does, download before.';

export const STDIO_HINT =
  'It must speak MCP over stdin and stdout, one JSON-RPC message a line, and nothing else there.';

export const ENDPOINT_HINT =
  'Is this the endpoint of an MCP server (Streamable HTTP)? It often ends in /mcp.';

export function reasonOf(error: unknown, method: string): string {
  if (error instanceof TransportError) return error.message;
  const message = error instanceof Error ? error.message : String(error);
  return `the answer to ${method} is not valid MCP: ${excerpt(message)}`;
}

export function hintOnStatus(status: number): string {
  if (status === 401 || status === 403)
    return 'Give a token with --bearer <token | env:NAME>, or a header with -H.';
  if (status === 404 || status === 405) return ENDPOINT_HINT;
  if (status >= 300 && status < 400)
    return 'Redirects to another origin are not followed: give the final address.';
  return "The server's own log says why.";
}
