import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { ProtocolCliError } from '../../errors.js';
import { excerpt } from '../../text/excerpt.js';
import { formatDuration } from '../../text/format-duration.js';
import { TransportError } from '../../transport/client.js';
import { explainFailure } from '../../transport/explain-failure.js';
import type { Link } from './link.js';

/** Whom the words are about: a URL, or a command that was started. */
export interface McpPeer {
  readonly kind: 'http' | 'stdio';
  /** The URL, or the command as it was given. */
  readonly name: string;
}

/** The endpoint of a server for a transcript. Of a command only the program: its arguments can be secrets. */
export function endpointOf({ kind, name }: McpPeer): string {
  if (kind === 'http') return name;
  const word = name.split(/\s+/).find(each => !/^\w+=/.test(each)) ?? '';
  const program = word.replace(/^.*[/\\]/, '').replaceAll(/["']/g, '');
  return `stdio:${/^[\w@.-]{1,60}$/.test(program) ? program : ''}`;
}

/** What came of a request, in a transcript's terms. */
export type McpFailure =
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  | { readonly kind: 'status'; readonly status: number; readonly text: string }
  | { readonly kind: 'broken'; readonly phase: string; readonly code: string };

/** Sorts what a request was rejected with. */
export function failureOfMcp(error: unknown): McpFailure {
  if (error instanceof ProtocolError) {
    const { code, message, data } = error;
    return { kind: 'error', code, message, ...(data !== undefined && { data }) };
  }
  if (error instanceof SdkHttpError)
    return { kind: 'status', status: error.status, text: textOf(error.data) };
  if (error instanceof UnauthorizedError) return { kind: 'status', status: 401, text: '' };
  if (error instanceof TransportError) return { kind: 'broken', phase: error.phase, code: error.code };
  if (error instanceof SdkError) return { kind: 'broken', phase: 'answer', code: error.code };
  return { kind: 'broken', phase: 'answer', code: 'UNREADABLE' };
}

function textOf({ text }: SdkHttpError['data']): string {
  return typeof text === 'string' ? text : '';
}

/**
 * Why a server cannot be used, in words: what was asked, what came, what to do.
 * @param asked `initialize`, `tools/list`, `tools/call`
 * @param limitMs how long it had, where it had a limit
 */
export function explainMcp(
  error: unknown,
  asked: string,
  peer: McpPeer,
  link: Link,
  limitMs?: number,
): ProtocolCliError {
  const silence = `no answer to ${asked} came ${limitMs === undefined ? 'in time' : `within ${formatDuration(limitMs)}`}`;
  const reason = isSilence(error) ? silence : reasonOf(error, asked);
  const failure = failureOfMcp(error);
  switch (failure.kind) {
    case 'error':
      return new ProtocolCliError(
        'no-discovery',
        `${peer.name}: the server refused ${asked} with the error ${failure.code}: ${excerpt(failure.message)}`,
        { hint: 'Does it offer tools, and does it speak a current version of MCP?', cause: error },
      );
    case 'status':
      return new ProtocolCliError(
        'no-discovery',
        `${peer.name}: ${asked} was answered with ${failure.status}`,
        {
          faults: failure.text.trim() === '' ? [] : [excerpt(failure.text.trim())],
          hint: hintOnStatus(failure.status),
          cause: error,
        },
      );
    case 'broken':
      return peer.kind === 'stdio'
        ? explainCommand(error, reason, peer.name, link)
        : explainUrl(error, reason, peer.name);
  }
}

function explainUrl(error: unknown, reason: string, url: string): ProtocolCliError {
  if (error instanceof TransportError) return explainFailure(error, url, 'tool');
  return new ProtocolCliError('unreachable', `${url}: ${reason}`, {
    hint: 'Is this the endpoint of an MCP server (Streamable HTTP)? It often ends in /mcp.',
    cause: error,
  });
}

function explainCommand(error: unknown, reason: string, command: string, link: Link): ProtocolCliError {
  return new ProtocolCliError('command-failed', `the command "${command}": ${reason}`, {
    faults: [...garbageOf(link), ...link.lastWords],
    hint: isSilence(error)
      ? `${SPEAKS} What has to be fetched first, as by npx, is best fetched before.`
      : SPEAKS,
    cause: error,
  });
}

const SPEAKS =
  'It must speak MCP over stdin and stdout, one JSON-RPC message a line, and nothing else there.';

/** What stood on the server's stdout and was no message; empty where nothing did. */
export function garbageOf({ garbage: { count, first } }: Link): string[] {
  if (count === 0) return [];
  const lines = count === 1 ? 'a line that is' : `${count} lines that are`;
  return [`it wrote ${lines} no JSON-RPC message to its stdout: ${excerpt(first)}`];
}

function isSilence(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
}

function reasonOf(error: unknown, asked: string): string {
  if (error instanceof TransportError) return error.message;
  const message = error instanceof Error ? error.message : String(error);
  return `the answer to ${asked} is none of MCP: ${excerpt(message)}`;
}

function hintOnStatus(status: number): string {
  if (status === 401 || status === 403)
    return 'Give a token with --bearer <token | env:NAME>, or a header with -H.';
  if (status === 404 || status === 405)
    return 'Is this the endpoint of an MCP server (Streamable HTTP)? It often ends in /mcp.';
  if (status >= 300 && status < 400)
    return 'Redirects to another origin are not followed: give the final address.';
  return "The server's own log says why.";
}
