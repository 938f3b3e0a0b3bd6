import { ProtocolCliError } from '../../util/errors.js';
import { readUrl } from '../../util/strings.js';

const API = '/api/v2';

/**
 * Where a session is, without a slash at its end. A base that ends in `/api/v2` already will do.
 * @throws ProtocolCliError `usage` where the base is no plain http or https URL, or the id is empty.
 */
export function sessionUrl(base: string, id: string): string {
  const url = readUrl(base);
  if (!url || !/^https?:$/.test(url.protocol)) throw noBase(`${base} is no http or https URL`);
  if (url.username !== '' || url.password !== '')
    throw noBase('credentials in a URL are not sent: give the key');
  if (url.search !== '' || url.hash !== '') throw noBase('the base URL has a query or a fragment');
  if (/^\.{0,2}$/.test(id)) throw new ProtocolCliError('usage', `"${id}" is no session id`);
  const path = url.pathname.replace(/\/+$/, '').replace(/\/api\/v2$/, '');
  return `${url.origin}${path}${API}/sessions/${encodeURIComponent(id.toWellFormed())}`;
}

function noBase(message: string): ProtocolCliError {
  return new ProtocolCliError('usage', message, {
    hint: 'A platform is given as http://host:port, without /api/v2.',
  });
}
