import { ProtocolCliError } from '../errors.js';
import { readUrl } from '../text/url.js';
import { addressProblem, isLoopback } from './addresses.js';

/** Why nothing is posted to a url; null where it may be. */
export type Allows = (url: string) => string | null;

/**
 * Where callbacks may go (threats, row 9): loopback, and exactly these origins. Link-local and metadata addresses never, not even
 * where they are listed. What a name resolves to is judged by the client when it connects (row 10).
 * @param origins as `https://runtime.example:8443`.
 * @throws ProtocolCliError `usage` where one is no origin.
 */
export function allowedDestinations(origins: readonly string[]): Allows {
  const listed = new Set(origins.map(originOf));
  return url => {
    const parsed = readUrl(url);
    if (!parsed) return 'the callback URL is not a URL';
    const { protocol, username, password, hostname, origin } = parsed;
    if (!isHttp(protocol)) return `the callback URL is neither http nor https, but ${protocol}`;
    if (username || password) return `the callback URL for ${origin} carries a user name or a password`;
    const problem = addressProblem(hostname);
    if (problem) return `${problem}: nothing is posted there`;
    if (isLoopback(hostname) || listed.has(origin)) return null;
    return `${origin} is not allowed. Allow it with --allow-callback ${origin}`;
  };
}

function originOf(text: string): string {
  const url = readUrl(text);
  if (url && isHttp(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  throw new ProtocolCliError('usage', `"${text}" is not an origin that callbacks could be allowed for`, {
    hint: 'Give scheme, host and port, and nothing after them: http://runtime:8080.',
  });
}

const isHttp = (protocol: string) => protocol === 'http:' || protocol === 'https:';
