import type { IncomingMessage } from 'node:http';
import { ProtocolCliError } from '../util/errors.js';
import { remembering } from '../util/remembering.js';
import { mediaTypeOf } from '../util/strings.js';
import { type Answer, bodyTooLarge, Denial, hasBody, isEncoded, type Route } from './request-body.js';

interface HostHeader {
  /** In lower case; an IPv6 address keeps its brackets. */
  readonly name: string;
  readonly port: string | undefined;
}

/** @param isLocal whether the peer connected from a loopback address. */
type HostList = (host: HostHeader, ourPort: number, isLocal: boolean) => boolean;

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

type Head = Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'rawHeaders' | 'socket'>;

/** What a server lets in. */
export interface Door {
  /** @param peer the address that the connection came from. */
  readonly allowsHost: (host: HostHeader, peer: string) => boolean;
  readonly routes: readonly Route[];
  /** Bytes. */
  readonly maxBody: number;
}

/**
 * Judges a request by its head alone, before a byte of the body is read: Host, browser, path, method, encoding, media type, length
 * (threats, rows 2, 3, 4, 15 and 16). The order is fixed, so that a stranger learns nothing about our paths. A route may have an answer
 * of its own, once it is known that the request may come in at all.
 */
export function admit(head: Head, { allowsHost, routes, maxBody }: Door): Route | Answer | Denial {
  const path = pathOf(head);
  const stranger = judgeHost(head, allowsHost);
  if (stranger) return stranger;
  const route = routes.find(({ method, serves }) => isMethod(method, head) && serves(path));
  const visitor = judgeOrigin(head, route);
  if (visitor) return visitor;
  if (route) return route.first?.(headOf(head)) ?? judgeContent(head, route, maxBody) ?? route;
  return nothingHere(routes.filter(candidate => candidate.serves(path)));
}

function pathOf({ url = '' }: Pick<Head, 'url'>): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

function isMethod(wanted: Route['method'], { method }: Head): boolean {
  return wanted === 'any' || wanted === method;
}

function headOf({ method = '', url: target = '', headers }: Head) {
  return { method, target, headers };
}

function judgeHost({ headers, rawHeaders, socket }: Head, allows: Door['allowsHost']): Denial | undefined {
  const host = headers.host === undefined || isRepeated('host', rawHeaders) ? null : parseHost(headers.host);
  if (!host) return new Denial(400, 'malformed', 'its Host header is missing, repeated or not a host');
  if (!allows(host, socket.remoteAddress ?? ''))
    return new Denial(403, 'host', 'its Host header names a host that is not allowed');
  return undefined;
}

/** Of names and values in turn. Node keeps the first Host of several, and which one is meant nobody can know. */
function isRepeated(name: string, rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (isNamed(name, rawHeaders[at] ?? '')) count++;
  return count > 1;
}

function isNamed(name: string, written: string): boolean {
  return written.length === name.length && written.toLowerCase() === name;
}

/** Never by Sec-Fetch-Mode: Node's own fetch sends that one. */
function judgeOrigin({ headers }: Head, route: Route | undefined): Denial | undefined {
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin === undefined && site === undefined) return undefined;
  if (route?.browsers === 'same-origin' && isOurs(origin, headers.host) && isOwnVisit(site)) return undefined;
  if (origin !== undefined && route?.origins?.has(origin)) return undefined;
  return new Denial(403, 'browser', 'it comes from a web page');
}

function isOurs(origin: string | undefined, host: string | undefined): boolean {
  return origin === undefined || origin === `http://${host}` || origin === `https://${host}`;
}

function isOwnVisit(site: string | string[] | undefined): boolean {
  return site === undefined || site === 'none' || site === 'same-origin';
}

function nothingHere(here: readonly Route[]): Denial {
  if (here.length === 0) return new Denial(404, 'no-route', 'nothing is served at its path');
  const methods = [...new Set(here.map(route => route.method))].join(', ');
  return new Denial(405, 'method', `its method is not ${methods}`, { Allow: methods });
}

function judgeContent({ headers }: Head, route: Route, maxBody: number): Denial | undefined {
  if (isEncoded(headers))
    return new Denial(415, 'encoding', 'its body is encoded', { 'Accept-Encoding': 'identity' });
  if (route.accepts === 'nothing') return undefined;
  const wanted = wantedType(route.accepts, headers);
  if (wanted !== null && mediaTypeOf(headers['content-type'] ?? '') !== wanted)
    return new Denial(415, 'media-type', `its Content-Type is not ${wanted}`);
  return Number(headers['content-length'] ?? 0) > maxBody ? bodyTooLarge(maxBody) : undefined;
}

/** Null where any will do. */
function wantedType(accepts: Exclude<Route['accepts'], 'nothing'>, headers: Head['headers']): string | null {
  if (accepts === 'anything' || (accepts === 'json?' && !hasBody({ headers }))) return null;
  return MEDIA_TYPES[accepts];
}

const MEDIA_TYPES = {
  json: 'application/json',
  'json?': 'application/json',
  form: 'application/x-www-form-urlencoded',
} as const;
