import { Client } from '@modelcontextprotocol/client';
import * as z from 'zod/mini';
import type { Link } from './link.js';

/** Of Node's timers, in ms: the SDK has no word for waiting for ever. */
const LONGEST_MS = 2 ** 31 - 1;

/** An MCP connection that is open. */
export interface McpConnection {
  /** As the server names itself. */
  readonly server: string;
  /** Rejects where the server refuses, is gone, or does not answer in time; see `explainMcp`. */
  request(
    method: string,
    params: Record<string, unknown>,
    limits?: { readonly timeoutMs?: number; readonly signal?: AbortSignal },
  ): Promise<unknown>;
  close(): Promise<void>;
}

/** @param version of this program */
export async function openMcp(
  link: Link,
  { version, timeoutMs }: { readonly version: string; readonly timeoutMs: number },
): Promise<McpConnection> {
  const client = new Client({ name: 'protocol-cli', version });
  // A result goes by as it came: the SDK's schemas would add and drop what servers did and did not write.
  const request: McpConnection['request'] = (
    method,
    params,
    { timeoutMs: timeout = LONGEST_MS, signal } = {},
  ) =>
    Promise.race([
      client.request({ method, params }, z.unknown(), { timeout, ...(signal && { signal }) }),
      link.lost,
    ]);
  await Promise.race([client.connect(link, { timeout: timeoutMs }), link.lost]);
  const { name = 'MCP server' } = client.getServerVersion() ?? {};
  return { server: name, request, close: () => client.close() };
}
