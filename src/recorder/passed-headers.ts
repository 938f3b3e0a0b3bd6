import type { IncomingHttpHeaders } from 'node:http';
import { isPlainHeader } from '../text/redact.js';

type Headers = Readonly<Record<string, string>>;

/** Of one connection (RFC 9110, 7.6.1), or made anew for each; of encodings we ask for none (threats, row 16). */
const OURS = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'origin',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Names in lower case, each once. */
export function flatHeaders(headers: IncomingHttpHeaders): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

/** What of a message's headers is the sender's word, and goes on with it. */
export function passedHeaders(headers: Headers): Headers {
  const named = (headers['connection'] ?? '').toLowerCase().split(/\s*,\s*/);
  return without(headers, name => OURS.has(name) || named.includes(name));
}

/** What may be a credential was given for one origin, and goes to no other (threats, row 12). `withheld` names what does not go. */
export function headersFor(url: string, origin: string, headers: Headers) {
  const isOwn = URL.canParse(url) && new URL(url).origin === origin;
  const withheld = isOwn ? [] : Object.keys(headers).filter(name => !isPlainHeader(name));
  return { headers: without(headers, name => withheld.includes(name)), withheld };
}

function without(headers: Headers, isLeftOut: (name: string) => boolean): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isLeftOut(name)));
}
