import type { IncomingHttpHeaders } from 'node:http';

export interface Callback {
  url: string;
  headers: IncomingHttpHeaders;
  /** null for what is not JSON. */
  body: Record<string, unknown> | null;
  raw: string;
  at: number;
}

export interface Invocation {
  operation: string;
  arguments: Record<string, unknown>;
  id: string;
  call_id?: string | null;
  callback_url: string;
  group_id: string;
}

export interface Call {
  ack: { status: number; headers: IncomingHttpHeaders };
  callbacks: Callback[];
  invocation: Invocation;
}

export function invokeOnce(
  baseUrl: string,
  operation: string,
  args: Record<string, unknown>,
  options?: { callId?: string | null; limitMs?: number },
): Promise<Call>;
