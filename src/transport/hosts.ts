import { ProtocolCliError } from '../errors.js';
import { remembering } from '../text/remembering.js';

export interface HostHeader {
  /** In lower case; an IPv6 address keeps its brackets. */
  readonly name: string;
  readonly port: string | undefined;
}

/** @param isLocal whether the peer connected from a loopback address. */
export type HostList = (host: HostHeader, ourPort: number, isLocal: boolean) => boolean;

const SHAPE = /^(?<name>\[[\da-f:.]+\]|[\w.-]+)(?::(?<port>\d{1,5}))?$/i;
const LONGEST_NAME = 253;
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/** Reads one Host value (RFC 9110, 7.2); null where it is none. */
export const parseHost = remembering(readHost);

function readHost(value: string): HostHeader | null {
  const { name, port } = SHAPE.exec(value)?.groups ?? {};
  if (name === undefined || name.length > LONGEST_NAME) return null;
  return { name: name.toLowerCase(), port };
}

/**
 * The allow-list of threats, row 2: the address we are bound to and, for peers on this machine, loopback names, with or without our
 * port; `extra` names with any port, or with exactly the one they were given with.
 * @throws ProtocolCliError `usage` where an extra name is not a host.
 */
export function hostList(bound: string, extra: readonly string[]): HostList {
  const own = bound.toLowerCase();
  const others = extra.map(parseAllowed);
  const isOwn = (name: string, isLocal: boolean) => (LOOPBACK.includes(name) ? isLocal : name === own);
  return (host, ourPort, isLocal) =>
    (isOwn(host.name, isLocal) && (host.port ?? String(ourPort)) === String(ourPort)) ||
    others.some(other => other.name === host.name && (other.port ?? host.port) === host.port);
}

function parseAllowed(value: string): HostHeader {
  const host = parseHost(value);
  if (host) return host;
  throw new ProtocolCliError('usage', `"${value}" is not a host name that could be allowed`, {
    hint: 'Give a name, or a name and a port: tools.example or tools.example:8080, without http://.',
  });
}
