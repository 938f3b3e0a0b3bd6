import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { BlockList, isIPv4, isIPv6, type LookupFunction } from 'node:net';
import type { Clock } from '../system/clock.js';
import { memoizeByString } from '../util/collections.js';
import { ProtocolCliError } from '../util/errors.js';
import { readUrl } from '../util/url.js';
import { TransportError } from './transport-error.js';

const LINK_LOCAL = blockList([...inBothFamilies('169.254.0.0', 16), ['fe80::', 10]]);

const METADATA = blockList([
  ...inBothFamilies('100.100.100.200', 32), // Alibaba
  ...inBothFamilies('168.63.129.16', 32), // Azure
  ...inBothFamilies('192.0.0.192', 32), // Oracle
  ['fd00:c1::a9fe:a9fe', 128], // Oracle
  ['fd00:ec2::', 32], // AWS
  ['fd20:ce::254', 128], // Google
]);

/**
 * Why connections to an address are refused (threats, row 9); null if it is allowed or not an IP address. Cached: a BlockList lookup
 * takes a fifth of a request's time.
 */
export const addressProblem = memoizeByString(problemOf);

function problemOf(address: string): string | null {
  const bare = address.replace(/^\[|\]$/g, '').split('%', 1)[0] ?? '';
  if (isListed(LINK_LOCAL, bare)) return `${address} is a link-local address`;
  if (isListed(METADATA, bare)) return `${address} is a cloud's metadata address`;
  return null;
}

const LOOPBACK = blockList([
  ['127.0.0.0', 8],
  ['::1', 128],
]);

/** Whether a host, as the URL parser writes it, is a loopback address or `localhost`. */
export const isLoopback = memoizeByString(
  host => host === 'localhost' || isListed(LOOPBACK, host.replace(/^\[|\]$/g, '')),
);

type Subnet = readonly [net: string, prefix: number];

/**
 * Expands an IPv4 subnet to its IPv6 forms: mapped, translated (RFC 2765), compatible, NAT64 (RFC 6052, RFC 8215) and 6to4 (RFC 3056).
 */
function inBothFamilies(net: string, prefix: number): Subnet[] {
  const embedded = ['::ffff:', '::ffff:0:', '::', '64:ff9b::', '64:ff9b:1::'];
  const [a = 0, b = 0, c = 0, d = 0] = net.split('.').map(Number);
  const hex = [a * 256 + b, c * 256 + d].map(group => group.toString(16)).join(':');
  return [
    [net, prefix],
    ...embedded.map((start): Subnet => [start + net, 96 + prefix]),
    [`2002:${hex}::`, 16 + prefix],
  ];
}

function blockList(subnets: readonly Subnet[]): BlockList {
  const list = new BlockList();
  for (const [net, prefix] of subnets) list.addSubnet(net, prefix, family(net));
  return list;
}

function isListed(list: BlockList, address: string): boolean {
  const isAddress = family(address) === 'ipv6' ? isIPv6(address) : isIPv4(address);
  return isAddress && list.check(address, family(address));
}

// Node's IPv6 pattern takes 6 ms to compile, so use it only if there is a colon.
function family(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}

/** How refusals name a URL, and the option that allows its origin. */
interface DestinationWords {
  readonly name: string;
  readonly those: string;
  readonly option: string;
}

const CALLBACKS: DestinationWords = {
  name: 'callback URL',
  those: 'callbacks',
  option: '--allow-callback',
};

export type DestinationCheck = (url: string) => string | null;

/**
 * Allows callbacks, or other messages, to loopback and to these origins; never to link-local and metadata addresses, even if listed (threats, row 9). The
 * client checks the resolved address when it connects (row 10).
 * @param origins as `https://runtime.example:8443`.
 * @throws ProtocolCliError `usage` for an invalid origin.
 */
export function allowedDestinations(
  origins: readonly string[],
  { name, those, option }: DestinationWords = CALLBACKS,
): DestinationCheck {
  const listed = new Set(origins.map(origin => originOf(origin, those)));
  return url => {
    const parsed = readUrl(url);
    if (!parsed) return `the ${name} is not a URL`;
    const { protocol, username, password, hostname, origin } = parsed;
    if (!isHttp(protocol)) return `the ${name} is neither http nor https, but ${protocol}`;
    if (username || password) return `the ${name} for ${origin} carries a user name or a password`;
    const problem = addressProblem(hostname);
    if (problem) return `${problem}; ${those} to this address are refused`;
    if (isLoopback(hostname) || listed.has(origin)) return null;
    return `${origin} is not allowed. Allow it with ${option} ${origin}`;
  };
}

function originOf(text: string, those: string): string {
  const url = readUrl(text);
  if (url && isHttp(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  throw new ProtocolCliError('usage', `"${text}" is not an origin that ${those} could be allowed for`, {
    hint: 'Give scheme, host and port, and nothing after them: http://runtime:8080.',
  });
}

const isHttp = (protocol: string) => protocol === 'http:' || protocol === 'https:';

/**
 * Parses the URL of a request.
 * @throws TransportError `BAD_URL` unless it is a plain http or https URL; `REFUSED_ADDRESS` (threats, row 9).
 */
export function destinationOf(url: string): URL {
  const destination = readUrl(url);
  if (!destination) throw badUrl(url, 'is not a url');
  if (!isHttp(destination.protocol)) throw badUrl(url, 'is neither http nor https');
  if (destination.username || destination.password)
    throw badUrl(destination.origin, 'was given with a user name or a password');
  refuseAddress(destination.hostname);
  return destination;
}

/**
 * @param name the name that resolved to the address: `localhost` must be this machine (threats, row 10).
 * @throws TransportError `REFUSED_ADDRESS` if connections to it are not allowed.
 */
function refuseAddress(address: string, name = address): void {
  const isStray = name === 'localhost' && !isLoopback(address);
  const problem = isStray ? `localhost resolves to ${address}, another machine` : addressProblem(address);
  if (problem) throw new TransportError('address', 'REFUSED_ADDRESS', problem);
}

function badUrl(url: string, problem: string): TransportError {
  return new TransportError('address', 'BAD_URL', `${url} ${problem}`);
}

/** Resolves a host name to all its addresses, the preferred one first. */
type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface ClientOptions {
  readonly resolve?: Resolve;
  /** Measures the time limits of requests. */
  readonly clock?: Clock;
}

const systemResolve: Resolve = hostname => lookup(hostname, { all: true });

/** Node gives up the first address of a name after 250 ms, also if it was this process that could not run. */
const ADDRESS_TIMEOUT_MS = 2_000;

/** How node:net connects: to no refused address, and to the next one of a name only if the one before does not answer. */
export function connectionOptions(options: ClientOptions) {
  return { lookup: guardedLookup(options), autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS };
}

/**
 * Creates a lookup for node:net that returns no refused address. The connection uses the checked address, so DNS rebinding cannot
 * bypass the check (threats, row 10).
 */
function guardedLookup({ resolve = systemResolve }: ClientOptions): LookupFunction {
  return (hostname, { all }, callback) => {
    allowedAddresses(resolve, hostname).then(
      ([first, ...others]) =>
        all ? callback(null, [first, ...others]) : callback(null, first.address, first.family),
      error => callback(error, ''),
    );
  };
}

/** Both families of `localhost`, also where the hosts file has one: a server may listen on the other. */
function withLoopback(hostname: string, addresses: readonly LookupAddress[]): readonly LookupAddress[] {
  if (hostname !== 'localhost') return addresses;
  const missing = LOCALHOST.filter(({ family }) => addresses.every(each => each.family !== family));
  return [...addresses, ...missing];
}

const LOCALHOST: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

async function allowedAddresses(
  resolve: Resolve,
  hostname: string,
): Promise<[LookupAddress, ...LookupAddress[]]> {
  const [first, ...others] = withLoopback(hostname, await resolve(hostname));
  if (!first) throw Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
  for (const { address } of [first, ...others]) refuseAddress(address, hostname);
  return [first, ...others];
}

/** A check sends requests only to the tool, not to a third party that the tool names (threats, row 9). @param base URL of the tool */
export function isHostOfTool(url: string, base: string, endpoint: string): boolean {
  const target = readUrl(url);
  if (!target) return false;
  if (isLoopback(target.hostname)) return isLoopback(readUrl(base)?.hostname ?? '');
  return [base, endpoint].some(own => readUrl(own)?.host === target.host);
}
