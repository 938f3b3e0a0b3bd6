import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { refuseAddress } from './destination.js';

/** Every address of a host name, the preferred one first. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface ClientOptions {
  /** The system's resolver unless told. */
  readonly resolve?: Resolve;
}

const systemResolve: Resolve = hostname => lookup(hostname, { all: true });

/**
 * A lookup for node:net that hands out no refused address. It is asked for each connection and names the very address that is
 * then used: a name that resolves differently a second later cannot slip by (threats, row 10).
 */
export function guardedLookup({ resolve = systemResolve }: ClientOptions): LookupFunction {
  return (hostname, { all }, callback) => {
    allowedAddresses(resolve, hostname).then(
      ([first, ...others]) =>
        all ? callback(null, [first, ...others]) : callback(null, first.address, first.family),
      error => callback(error, ''),
    );
  };
}

async function allowedAddresses(
  resolve: Resolve,
  hostname: string,
): Promise<[LookupAddress, ...LookupAddress[]]> {
  const [first, ...others] = await resolve(hostname);
  if (!first) throw Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
  for (const { address } of [first, ...others]) refuseAddress(address, hostname);
  return [first, ...others];
}
