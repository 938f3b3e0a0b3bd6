import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { remembering } from '../text/remembering.js';

const LINK_LOCAL = blockList([...inBothFamilies('169.254.0.0', 16), ['fe80::', 10]]);

/** Metadata servers outside the link-local range. */
const METADATA = blockList([
  ...inBothFamilies('100.100.100.200', 32), // Alibaba
  ...inBothFamilies('168.63.129.16', 32), // Azure
  ...inBothFamilies('192.0.0.192', 32), // Oracle
  ['fd00:c1::a9fe:a9fe', 128], // Oracle
  ['fd00:ec2::', 32], // AWS
  ['fd20:ce::254', 128], // Google
]);

/**
 * Why we never connect to an address (threats, row 9); null where we may, and for what is no IP address. Remembered: a look into a
 * BlockList costs as much as a fifth of a request.
 */
export const addressProblem = remembering(problemOf);

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

/** Whether a host, as the URL parser writes it, is this machine: an address, or the one name for it. */
export const isLoopback = remembering(
  host => host === 'localhost' || isListed(LOOPBACK, host.replace(/^\[|\]$/g, '')),
);

type Subnet = readonly [net: string, prefix: number];

/**
 * An IPv4 subnet and its IPv6 forms: mapped, translated (RFC 2765), compatible, NAT64 (RFC 6052, RFC 8215) and 6to4 (RFC 3056).
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

// Node's IPv6 pattern takes 6 ms to compile: it is asked only where there is a colon.
function family(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}
