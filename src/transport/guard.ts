import type { IncomingMessage } from 'node:http';
import { isEncoded } from './coding.js';
import { type HostHeader, parseHost } from './hosts.js';
import { bodyTooLarge, Denial } from './refusal.js';
import type { Route } from './route.js';

type Head = Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'headersDistinct'>;

/** What a server lets in. */
export interface Door {
  readonly allowsHost: (host: HostHeader) => boolean;
  readonly routes: readonly Route[];
  /** Bytes. */
  readonly maxBody: number;
}

/**
 * Judges a request by its head alone, before a byte of the body is read: Host, browser, path, method, encoding, media type, length
 * (threats, rows 2, 3, 4, 15 and 16). The order is fixed, so that a stranger learns nothing about our paths.
 */
export function admit(head: Head, { allowsHost, routes, maxBody }: Door): Route | Denial {
  const path = pathOf(head);
  const stranger = judgeHost(head, allowsHost);
  if (stranger) return stranger;
  const here = routes.filter(candidate => candidate.serves(path));
  const route = here.find(candidate => candidate.method === head.method);
  const visitor = judgeOrigin(head, route);
  if (visitor) return visitor;
  return route ? (judgeContent(head, route, maxBody) ?? route) : nothingHere(here);
}

function pathOf({ url = '' }: Pick<Head, 'url'>): string {
  return url.split('?', 1)[0] ?? '';
}

function judgeHost({ headersDistinct }: Head, allows: Door['allowsHost']): Denial | undefined {
  const [value, ...more] = headersDistinct.host ?? [];
  const host = value === undefined || more.length > 0 ? null : parseHost(value);
  if (!host) return new Denial(400, 'malformed', 'its Host header is missing, repeated or not a host');
  if (!allows(host)) return new Denial(403, 'host', 'its Host header names a host that is not allowed');
  return undefined;
}

/** Never by Sec-Fetch-Mode: Node's own fetch sends that one. */
function judgeOrigin({ headers }: Head, route: Route | undefined): Denial | undefined {
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin === undefined && site === undefined) return undefined;
  if (route?.browsers === 'same-origin' && isOurs(origin, headers.host) && isOwnVisit(site)) return undefined;
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
  const methods = here.map(route => route.method).join(', ');
  return new Denial(405, 'method', `its method is not ${methods}`, { Allow: methods });
}

function judgeContent({ headers }: Head, route: Route, maxBody: number): Denial | undefined {
  if (isEncoded(headers))
    return new Denial(415, 'encoding', 'its body is encoded', { 'Accept-Encoding': 'identity' });
  if (route.accepts === 'nothing') return undefined;
  if (!isJson(headers['content-type']))
    return new Denial(415, 'media-type', 'its Content-Type is not application/json');
  return Number(headers['content-length'] ?? 0) > maxBody ? bodyTooLarge(maxBody) : undefined;
}

function isJson(contentType = ''): boolean {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}
