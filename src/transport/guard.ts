import type { IncomingMessage } from 'node:http';
import { mediaTypeOf } from '../text/media-type.js';
import { hasBody } from './body.js';
import { isEncoded } from './coding.js';
import { type HostHeader, parseHost } from './hosts.js';
import { bodyTooLarge, Denial } from './refusal.js';
import type { Answer, Route } from './route.js';

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
