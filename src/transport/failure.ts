import { type Phase, TransportError } from './client.js';
import { errnoOf } from './errno.js';

/** What node:http and undici call the same thing. */
const SYNONYMS: Readonly<Record<string, string>> = {
  ERR_INVALID_CHAR: 'BAD_HEADER',
  ERR_INVALID_HTTP_TOKEN: 'BAD_HEADER',
  UND_ERR_INVALID_ARG: 'BAD_HEADER',
  UND_ERR_CONNECT_TIMEOUT: 'ETIMEDOUT',
  UND_ERR_SOCKET: 'ECONNRESET',
  UND_ERR_HEADERS_OVERFLOW: 'PARSE',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'PARSE',
  UND_ERR_DESTROYED: 'ABORTED',
};

const NAME_PROBLEM = /^(?:ENOTFOUND|EAI_\w+)$/;

/** A library's error in our words; ours passes as it is. */
export function asTransportError(error: unknown, phase: Phase): TransportError {
  if (error instanceof TransportError) return error;
  const code = codeOf(error);
  return new TransportError(NAME_PROBLEM.test(code) ? 'address' : phase, code, messageOf(error), {
    cause: error,
  });
}

function codeOf(error: unknown): string {
  const code = errnoOf(error);
  if (code.startsWith('HPE_') || isParserError(error)) return 'PARSE';
  return SYNONYMS[code] ?? (code || 'FAILED');
}

/** undici's parser gives most of its errors no code. */
function isParserError(error: unknown): boolean {
  return error instanceof Error && error.name === 'HTTPParserError';
}

/** Where every address of a name failed, Node gives one error without a text around them. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
