import type { IncomingMessage } from 'node:http';
import { memoizeByString } from '../util/collections.js';
import { ProtocolCliError } from '../util/errors.js';
import { mediaTypeOf } from '../util/headers.js';
import { isLoopback } from './addresses.js';
import { hasBody, isEncoded } from './body.js';
import { Denial, type Incoming, type Reply, type Route } from './route.js';

const SHAPE = /^(?<name>\[[\da-f:.]+\]|[\w.-]+)(?::(?<port>\d{1,5}))?$/i;

const MAX_NAME_LENGTH = 253;

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/** A host name in lower case, and the port as it was written. */
interface HostHeader {
  readonly name: string;
  readonly port: string | undefined;
}

/** Parses a Host value (RFC 9110, 7.2), in lower case; an IPv6 address keeps its brackets. Null if it is invalid. */
const parseHost = memoizeByString((value: string): HostHeader | null => {
  const { name, port } = SHAPE.exec(value)?.groups ?? {};
  if (name === undefined || name.length > MAX_NAME_LENGTH) return null;
  return { name: name.toLowerCase(), port };
});

const WILDCARDS = new Set(['', '*', '0.0.0.0', '[::]', '[::ffff:0:0]']);

/** Whether binding to `host` opens every interface, in any spelling (threats, row 5). */
export function isWildcard(host: string): boolean {
  return WILDCARDS.has(canonical(host));
}

/** Normalizes a host like a WHATWG URL, so `0`, `0x0` and `::0` are recognized. */
function canonical(host: string): string {
  const url = `http://${bracketed(host)}`;
  return URL.canParse(url) ? new URL(url).hostname : host;
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

function parseAllowed(value: string): HostHeader {
  const host = parseHost(value);
  if (host) return host;
  throw new ProtocolCliError('usage', `"${value}" is not a host name that could be allowed`, {
    hint: 'Give a name, or a name and a port: tools.example or tools.example:8080, without http://.',
  });
}

interface GuardOptions {
  readonly host?: string;
  readonly allowedHosts?: readonly string[];
  readonly routes: readonly Route[];
  readonly maxBody: number;
}

/** Decides which requests are served, from their heads. */
export class Guard {
  /** The address to bind to. */
  readonly address: string;
  /** The host of the server's own URL. `localhost` could resolve elsewhere, so it is 127.0.0.1 (threats, row 6). */
  readonly own: string;
  readonly #others: readonly HostHeader[];

  /** @throws ProtocolCliError `usage` if an allowed name is not a host. */
  constructor(private readonly options: GuardOptions) {
    const { host = '127.0.0.1', allowedHosts = [] } = options;
    const name = canonical(host) === 'localhost' ? '127.0.0.1' : canonical(host);
    const wildcard = name === '[::]' ? '::' : '0.0.0.0';
    this.address = isWildcard(host) ? wildcard : name.replace(/^\[|\]$/g, '');
    this.own = isWildcard(host) ? '127.0.0.1' : bracketed(this.address).toLowerCase();
    this.#others = allowedHosts.map(parseAllowed);
  }

  /**
   * Checks the head of a request before the body is read: Host, browser, path, method, encoding, media type, length (threats, rows 2, 3,
   * 4, 15 and 16). The order is fixed, so a refused client learns nothing about the served paths.
   */
  admit(request: IncomingMessage, incoming: Incoming): Route | Reply | Denial {
    const { maxBody } = this.options;
    const { method: asked, path, isBelowBase } = incoming;
    const routes = isBelowBase ? this.options.routes : [];
    const wrongHost = this.#judgeHost(request, incoming);
    if (wrongHost) return wrongHost;
    const route = routes.find(({ method, serves }) => (method === 'any' || method === asked) && serves(path));
    const webPage = judgeOrigin(request, incoming, route);
    if (webPage) return webPage;
    if (route) return route.first?.(incoming) ?? judgeContent(request, route, maxBody) ?? route;
    return nothingHere(routes.filter(candidate => candidate.serves(path)));
  }

  /** The Host header must be valid also where the target names the host, which then decides. */
  #judgeHost({ headers, rawHeaders, socket }: IncomingMessage, incoming: Incoming): Denial | undefined {
    const isValid =
      headers.host !== undefined && !isRepeated('host', rawHeaders) && parseHost(headers.host) !== null;
    if (!isValid) return new Denial(400, 'malformed', 'its Host header is missing, repeated or not a host');
    const host = parseHost(incoming.host ?? '');
    const isInTarget = incoming.host !== headers.host;
    if (!host) return new Denial(400, 'malformed', 'its target names no valid host');
    if (this.#allows(host, socket)) return undefined;
    const where = isInTarget ? 'its target' : 'its Host header';
    return new Denial(403, 'host', `${where} names a host that is not allowed`);
  }

  /**
   * Allows the bound address and, for peers on this machine, loopback names, with or without the server's port; other names with any
   * port, or only with the port given (threats, rows 2, 5 and 6).
   */
  #allows({ name, port }: HostHeader, { remoteAddress = '', localPort }: IncomingMessage['socket']): boolean {
    const isOwn = LOOPBACK.includes(name) ? isLoopback(remoteAddress) : name === this.own;
    return (
      (isOwn && (port ?? String(localPort)) === String(localPort)) ||
      this.#others.some(other => other.name === name && (other.port ?? port) === port)
    );
  }
}

/** Whether a header is repeated. Node keeps the first of several Host headers and drops the others. */
function isRepeated(name: string, rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === name.length && rawHeaders[at]?.toLowerCase() === name) count++;
  return count > 1;
}

/** Sec-Fetch-Mode does not identify a browser: Node's own fetch sends it. */
function judgeOrigin(
  { headers }: IncomingMessage,
  { host }: Incoming,
  route: Route | undefined,
): Denial | undefined {
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin === undefined && site === undefined) return undefined;
  if (route?.browsers === 'same-origin' && isOurs(origin, host) && isOwnVisit(site)) return undefined;
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
  if (here.length === 0) return Denial.noRoute();
  const methods = [...new Set(here.map(route => route.method))].join(', ');
  return new Denial(405, 'method', `its method is not ${methods}`, { Allow: methods });
}

function judgeContent({ headers }: IncomingMessage, route: Route, maxBody: number): Denial | undefined {
  if (isEncoded(headers))
    return new Denial(415, 'encoding', 'its body is encoded', { 'Accept-Encoding': 'identity' });
  if (route.accepts === 'nothing') return undefined;
  const wanted = wantedType(route.accepts, headers);
  if (wanted !== null && mediaTypeOf(headers['content-type'] ?? '') !== wanted)
    return new Denial(415, 'media-type', `its Content-Type is not ${wanted}`);
  return Number(headers['content-length'] ?? 0) > maxBody ? Denial.tooLarge(maxBody) : undefined;
}

/** Returns null if any type is accepted. */
function wantedType(
  accepts: Exclude<Route['accepts'], 'nothing'>,
  headers: IncomingMessage['headers'],
): string | null {
  if (accepts === 'anything' || (accepts === 'json?' && !hasBody({ headers }))) return null;
  return MEDIA_TYPES[accepts];
}

const MEDIA_TYPES = {
  json: 'application/json',
  'json?': 'application/json',
  form: 'application/x-www-form-urlencoded',
} as const;
