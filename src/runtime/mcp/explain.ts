import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { explainFailure, TransportError } from '../../http/transport-error.js';
import { MCP_VERSIONS } from '../../protocol/mcp-versions.js';
import { missingFileHint } from '../../system/child.js';
import { type ErrorDetails, messageOf, ProtocolCliError } from '../../util/errors.js';
import { excerpt, formatDuration, joinFirst, longExcerpt } from '../../util/text.js';
import { valueAt } from '../../util/values.js';
import { failureOfMcp, type McpFailure } from './failure.js';
import type { Link, McpTarget } from './link.js';

const UNSUPPORTED_VERSION = -32_022;

/** The versions that a server names when it does not support the one in use; null for any other error. */
export function supportedBy(error: unknown): readonly string[] | null {
  const failure = failureOfMcp(error);
  if (failure.kind !== 'error' || failure.code !== UNSUPPORTED_VERSION) return null;
  const supported = valueAt(failure.data, 'supported');
  return Array.isArray(supported) ? supported.filter(each => typeof each === 'string') : [];
}

export const isTimeout = (error: unknown) =>
  error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;

interface FailedRequest {
  readonly target: McpTarget;
  readonly link: Link;
  readonly method: string;
  /** The time limit of the request in ms, if any. */
  readonly limitMs?: number | undefined;
  /** Whether earlier requests succeeded: then neither the address nor the command is wrong. */
  readonly isConnected: boolean;
}

/** Converts the error of a rejected request. */
export function explainMcp(error: unknown, request: FailedRequest): ProtocolCliError {
  const failure = failureOfMcp(error);
  if (failure.kind !== 'broken') return explainRefusal(error, failure, request);
  return request.isConnected ? explainLoss(error, request) : explainSilence(error, request);
}

/** A JSON-RPC error, or an HTTP status. */
function explainRefusal(
  error: unknown,
  failure: Exclude<McpFailure, { kind: 'broken' }>,
  { target, method, isConnected }: FailedRequest,
): ProtocolCliError {
  const failed = (why: string, details: ErrorDetails) =>
    new ProtocolCliError('no-discovery', `${target.name}: ${why}`, { ...details, cause: error });
  const supported = supportedBy(error);
  if (supported) {
    const named =
      supported.length === 0
        ? 'versions that it does not name'
        : joinFirst(
            supported.map(each => excerpt(each)),
            10,
          );
    return failed(`the server does not support the MCP version of ${method}`, {
      faults: [`the server supports ${named}`, `protocol-cli supports ${MCP_VERSIONS.join(', ')}`],
      hint: 'Choose a version that both support with --mcp-version.',
    });
  }
  if (failure.kind === 'error')
    return failed(
      `the server refused ${method} with the error ${failure.code}: ${longExcerpt(failure.message, MAX_MESSAGE)}`,
      { hint: VERSION_HINT },
    );
  const text = failure.text.trim();
  return failed(`the server answered ${method} with ${failure.status}`, {
    faults: text === '' ? [] : [longExcerpt(text, MAX_MESSAGE)],
    hint: isConnected ? LOG_HINT : hintOnStatus(failure.status),
  });
}

/** A connection that ended after requests had succeeded: neither the address nor the command is wrong. */
function explainLoss(error: unknown, { target, link, method }: FailedRequest): ProtocolCliError {
  const reason =
    error instanceof TransportError
      ? `the connection was lost during ${method}: ${error.message}`
      : reasonOf(error, method);
  return new ProtocolCliError('unreachable', `${target.name}: ${reason}`, {
    faults: [...invalidLinesOf(link), ...(link.lastLines ?? [])],
    hint: LOG_HINT,
    cause: error,
  });
}

/** A server that does not answer the first requests. */
function explainSilence(error: unknown, { target, link, method, limitMs }: FailedRequest): ProtocolCliError {
  const { kind, name, cwd } = target;
  if (kind === 'http' && error instanceof TransportError) return explainFailure(error, name, 'tool');
  const isLate = isTimeout(error);
  const time = limitMs === undefined ? '' : ` after ${formatDuration(limitMs)}`;
  const reason = isLate ? `${method} timed out${time}` : reasonOf(error, method);
  if (kind === 'http')
    return new ProtocolCliError('unreachable', `${name}: ${reason}`, { hint: ENDPOINT_HINT, cause: error });
  const { lastLines = [] } = link;
  const faults = [...invalidLinesOf(link), ...lastLines];
  const hasEnded = error instanceof TransportError && error.code === 'ENDED';
  const isSilent = hasEnded && method === 'initialize' && faults.length === lastLines.length;
  const hint = (isSilent ? missingFileHint(lastLines, cwd) : null) ?? STDIO_HINT;
  return new ProtocolCliError('command-failed', `the command "${name}": ${reason}`, {
    faults,
    hint: isLate ? `${hint} ${DOWNLOAD_HINT}` : hint,
    cause: error,
  });
}

/** A sentence about the lines of a command's stdout that are not JSON-RPC. */
export function invalidLinesOf({ invalidLines }: Link): readonly string[] {
  const { count, first } = invalidLines ?? { count: 0, first: '' };
  if (count === 0) return [];
  const lines =
    count === 1 ? 'a line that is not a JSON-RPC message' : `${count} lines that are not JSON-RPC messages`;
  return [`it wrote ${lines} to its stdout: ${longExcerpt(first, MAX_MESSAGE)}`];
}

const VERSION_HINT = 'Check that the server offers tools and supports a current MCP version.';

const DOWNLOAD_HINT = 'If the command downloads a package (npx), install it first.';

const STDIO_HINT = 'The command must write one JSON-RPC message per line to stdout, and nothing else.';

/** Maximum length of a quoted message of a server, in characters. */
const MAX_MESSAGE = 1_000;

const ENDPOINT_HINT =
  'Is this the endpoint of an MCP server (Streamable HTTP)? It often ends in /mcp. The older transport HTTP+SSE (/sse) is not supported.';

const LOG_HINT = "See the server's log.";

function reasonOf(error: unknown, method: string): string {
  if (error instanceof TransportError) return error.message;
  const message = messageOf(error);
  return `the answer to ${method} is not valid MCP: ${longExcerpt(message, MAX_MESSAGE)}`;
}

function hintOnStatus(status: number): string {
  if (status === 401 || status === 403)
    return 'Give a token with --bearer <token | env:NAME>, or a header with -H.';
  if (status === 404 || status === 405) return ENDPOINT_HINT;
  if (status >= 300 && status < 400)
    return 'Redirects to another origin are not followed: give the final address.';
  return LOG_HINT;
}
