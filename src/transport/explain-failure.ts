import { ProtocolCliError } from '../errors.js';
import type { TransportError } from './client.js';

/**
 * A failure on the wire in words: what, where, what to do.
 * @param peer what listens there, or should
 */
export function explainFailure(
  error: TransportError,
  url: string,
  peer: 'tool' | 'platform',
): ProtocolCliError {
  const isUnknownName = /^(?:ENOTFOUND|EAI_\w+)$/.test(error.code);
  if (error.phase === 'address' && !isUnknownName)
    return new ProtocolCliError('refused-address', `${url} is not called: ${error.message}`, {
      hint: 'Only http and https URLs are called, without a user in them, and never link-local or metadata addresses.',
      cause: error,
    });
  const hint = isUnknownName ? 'The name does not resolve. Is it spelt right?' : hintOn(error.code, peer);
  const reason = error.code === 'EPROTO' ? 'the TLS handshake failed' : error.message;
  return new ProtocolCliError('unreachable', `${url}: ${reason}`, { hint, cause: error });
}

function hintOn(code: string, peer: string): string {
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
      return `No answer came in time. Is something between here and the ${peer} dropping packets?`;
    case 'ENCODED':
      return 'The answer was compressed though identity was asked for. Switch compression off for this route.';
    default:
      return `Is the ${peer} running, and is this its address?`;
  }
}
