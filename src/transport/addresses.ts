import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { remembering } from '../text/remembering.js';

/** Every way an IPv4 range can be written as an IPv6 one: mapped, compatible, NAT64 (RFC 6052, RFC 8215) and 6to4 (RFC 3056). */
const LINK_LOCAL = blockList([
  ['169.254.0.0', 16],
  ['fe80::', 10],
  ['::ffff:169.254.0.0', 112],
  ['::169.254.0.0', 112],
  ['64:ff9b::169.254.0.0', 112],
  ['64:ff9b:1::169.254.0.0', 112],
  ['2002:a9fe::', 32],
]);

/** Where clouds keep credentials outside the link-local range: AWS, Google and Alibaba. */
const METADATA = blockList([
  ['fd00:ec2::', 32],
  ['fd20:ce::254', 128],
  ['100.100.100.200', 32],
  ['::ffff:100.100.100.200', 128],
  ['64:ff9b::100.100.100.200', 128],
  ['2002:6464:64c8::', 48],
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

function blockList(subnets: readonly (readonly [net: string, prefix: number])[]): BlockList {
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
