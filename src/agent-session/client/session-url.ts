import { ProtocolCliError } from '../../util/errors.js';
import { readUrl } from '../../util/url.js';

/**
 * Returns the URL of a platform's API, without a trailing slash. The base may end in `/api/v2`.
 * @throws ProtocolCliError `usage`
 */
export function apiUrl(base: string): string {
  const url = readUrl(base);
  if (!url || !/^https?:$/.test(url.protocol)) throw invalidBase(`not an http or https URL: ${base}`);
  if (url.username !== '' || url.password !== '')
    throw invalidBase('credentials in a URL are not sent: give the key');
  if (url.search !== '' || url.hash !== '') throw invalidBase('the base URL has a query or a fragment');
  const path = url.pathname.replace(/\/+$/, '').replace(/\/api\/v2$/, '');
  return `${url.origin}${path}/api/v2`;
}

/**
 * Returns the URL of a session, without a trailing slash.
 * @throws ProtocolCliError `usage`
 */
export function sessionUrl(base: string, id: string): string {
  const api = apiUrl(base);
  if (/^\.{0,2}$/.test(id)) throw new ProtocolCliError('usage', `invalid session id: "${id}"`);
  return `${api}/sessions/${encodeURIComponent(id.toWellFormed())}`;
}

function invalidBase(message: string): ProtocolCliError {
  const hint = 'Write the URL of the platform as http://host:port, without /api/v2.';
  return new ProtocolCliError('usage', message, { hint });
}
