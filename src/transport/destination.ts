import { readUrl } from '../text/url.js';
import { addressProblem, isLoopback } from './addresses.js';
import { TransportError } from './client.js';

/**
 * Where a request goes.
 * @throws TransportError `BAD_URL` unless it is a plain http or https url; `REFUSED_ADDRESS` (threats, row 9).
 */
export function destinationOf(url: string): URL {
  const destination = readUrl(url);
  if (!destination) throw badUrl(url, 'is not a url');
  const { protocol } = destination;
  if (protocol !== 'http:' && protocol !== 'https:') throw badUrl(url, 'is neither http nor https');
  if (destination.username || destination.password)
    throw badUrl(destination.origin, 'was given with a user name or a password');
  refuseAddress(destination.hostname);
  return destination;
}

/**
 * @param name what resolved to it: `localhost` must be this machine (threats, row 10).
 * @throws TransportError `REFUSED_ADDRESS` where we never connect to it.
 */
export function refuseAddress(address: string, name = address): void {
  const isStray = name === 'localhost' && !isLoopback(address);
  const problem = isStray ? `localhost resolves to ${address}, another machine` : addressProblem(address);
  if (problem) throw new TransportError('address', 'REFUSED_ADDRESS', problem);
}

function badUrl(url: string, problem: string): TransportError {
  return new TransportError('address', 'BAD_URL', `${url} ${problem}`);
}
