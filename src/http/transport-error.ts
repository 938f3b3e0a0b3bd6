import { errnoOf, messageOf, ProtocolCliError } from '../util/errors.js';

/**
 * The phase that a request reached: `address` (URL, DNS), `connect`, `send` (connected, no response yet) or `answer`. In the first two
 * the server has certainly not seen the request.
 */
export type Phase = 'address' | 'connect' | 'send' | 'answer';

export class TransportError extends Error {
  override readonly name = 'TransportError';

  /**
   * @param code a system code (`ECONNREFUSED`, `ENOTFOUND`, `ECONNRESET`, …) or one of this client: `ETIMEDOUT`, `ABORTED`,
   * `TOO_LARGE`, `ENCODED`, `REFUSED_ADDRESS`, `BAD_URL`, `BAD_HEADER`, `PARSE`.
   */
  constructor(
    readonly phase: Phase,
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

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

/** Converts a library's error to a {@link TransportError}. */
export function asTransportError(error: unknown, phase: Phase): TransportError {
  if (error instanceof TransportError) return error;
  const code = codeOf(error);
  return new TransportError(NAME_PROBLEM.test(code) ? 'address' : phase, code, messageOf(error), {
    cause: error,
  });
}

function codeOf(error: unknown): string {
  const code = errnoOf(error);
  const isParserError = error instanceof Error && error.name === 'HTTPParserError'; // undici sets no code on most of them
  if (code.startsWith('HPE_') || isParserError) return 'PARSE';
  return SYNONYMS[code] ?? (code || 'FAILED');
}

/**
 * Converts a transport failure to an error message: what failed, where, and how to fix it.
 * @param peer the server that should listen there
 */
export function explainFailure(
  error: TransportError,
  url: string,
  peer: 'tool' | 'platform',
): ProtocolCliError {
  const isUnknownName = NAME_PROBLEM.test(error.code);
  if (error.phase === 'address' && !isUnknownName)
    return new ProtocolCliError('refused-address', `${url} was not called: ${error.message}`, {
      hint: 'Only http and https URLs without a user name are called, and never link-local or metadata addresses.',
      cause: error,
    });
  const hint = isUnknownName
    ? 'The host name does not resolve. Is it spelled correctly?'
    : hintOn(error, peer);
  const reason = error.code === 'EPROTO' ? 'the TLS handshake failed' : error.message;
  return new ProtocolCliError('unreachable', `${url}: ${reason}`, { hint, cause: error });
}

function hintOn({ code, phase }: TransportError, peer: string): string {
  switch (code) {
    case 'ECONNREFUSED':
      return `Nothing listens there. Is the ${peer} running, and is the port right?`;
    case 'BAD_PORT':
      return `Have the ${peer} listen on another port.`;
    case 'EPROTO':
      return 'The server does not speak TLS on this port. Try http:// instead of https://.';
    case 'ECONNRESET':
      return 'The connection was closed before an answer came. Does the server speak plain HTTP on this port?';
    case 'ETIMEDOUT':
      if (phase === 'connect')
        return `No answer came in time. Is something between here and the ${peer} dropping packets?`;
      return phase === 'answer'
        ? `The ${peer} began to answer but did not finish.`
        : `The ${peer} accepted the connection but did not answer.`;
    case 'PARSE':
      return 'What listens there does not speak HTTP, or not strictly. Is the port right?';
    case 'ENCODED':
      return 'The answer was compressed though identity was asked for. Switch compression off for this route.';
    default:
      return `Is the ${peer} running, and is this its address?`;
  }
}
