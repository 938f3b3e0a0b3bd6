import type { Server } from 'node:http';
import { ProtocolCliError } from '../errors.js';
import { errnoOf } from './errno.js';

const LOOPBACK = '127.0.0.1';
const WILDCARDS = new Set(['', '*', '0.0.0.0', '[::]', '[::ffff:0:0]']);

/** Whether binding to `host` would open every interface, in whatever spelling (threats, row 5). */
export function isWildcard(host: string): boolean {
  return WILDCARDS.has(canonical(host));
}

/** The address to listen on: `localhost` may resolve elsewhere, so it is taken as 127.0.0.1 (threats, row 6). */
export function bindAddress(host: string): string {
  const name = canonical(host);
  if (name === 'localhost') return LOOPBACK;
  if (!isWildcard(host)) return unbracketed(name);
  return name === '[::]' ? '::' : '0.0.0.0';
}

/** The host of our own url, never a name that could resolve elsewhere. */
export function advertisedHost(address: string): string {
  if (isWildcard(address)) return LOOPBACK;
  return bracketed(address);
}

/**
 * Starts listening.
 * @returns the port.
 * @throws ProtocolCliError `port-in-use`, or `usage` where the address is not one of this machine's.
 */
export function listen(server: Server, address: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(explain(error, address, port));
    server.once('error', fail);
    server.listen({ host: address, port }, () => {
      server.off('error', fail);
      resolve(portOf(server));
    });
  });
}

function portOf(server: Server): number {
  const bound = server.address();
  return typeof bound === 'object' && bound ? bound.port : 0;
}

function explain(error: Error, address: string, port: number): ProtocolCliError {
  if (errnoOf(error) === 'EADDRINUSE')
    return new ProtocolCliError('port-in-use', `port ${port} on ${address} is already in use`, {
      hint: 'Stop what listens there, or choose another port; 0 takes any free one.',
      cause: error,
    });
  return new ProtocolCliError('usage', `cannot listen on ${bracketed(address)}:${port}: ${error.message}`, {
    hint: 'Choose an address of this machine, and a port that you may open.',
    cause: error,
  });
}

/** As WHATWG URL writes it: `0`, `0x0` and `::0` are then all recognised. */
function canonical(host: string): string {
  const url = `http://${bracketed(host)}`;
  return URL.canParse(url) ? new URL(url).hostname : host;
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

function unbracketed(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}
