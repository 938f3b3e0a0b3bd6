import { ProtocolError, SdkError, SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client';
import { TransportError } from '../../http/transport-error.js';

/** The cause of a rejected request, as recorded in a transcript. */
export type McpFailure =
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
