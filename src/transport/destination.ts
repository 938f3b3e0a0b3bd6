import { addressProblem } from './addresses.js';
import { TransportError } from './client.js';

/**
 * Where a request goes.
 * @throws TransportError `BAD_URL` unless it is a plain http or https url; `REFUSED_ADDRESS` (threats, row 9).
 */
export function destinationOf(url: string): URL {
  if (!URL.canParse(url)) throw badUrl(url, 'is not a url');
  const destination = new URL(url);
  if (!/^https?:$/.test(destination.protocol)) throw badUrl(url, 'is neither http nor https');
  if (destination.username || destination.password)
    throw badUrl(destination.origin, 'was given with a user name or a password');
  refuseAddress(destination.hostname);
  return destination;
}

/** @throws TransportError `REFUSED_ADDRESS` where we never connect to it. */
export function refuseAddress(address: string): void {
  const problem = addressProblem(address);
  if (problem) throw new TransportError('address', 'REFUSED_ADDRESS', problem);
}

function badUrl(url: string, problem: string): TransportError {
  return new TransportError('address', 'BAD_URL', `${url} ${problem}`);
}
