import { Needles } from './needles.js';

/** Shorter ones are no secrets, and too common to take out. */
const SHORTEST = 4;

export const REDACTED = '[redacted]';

const PLAIN_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'allow',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'host',
  'keep-alive',
  'retry-after',
  'server',
  'transfer-encoding',
  'user-agent',
  'x-content-type-options',
]);

/** Replaces secrets by value, in every form they are written in on a wire (threats, row 25). */
export interface Redactor {
  add(secret: string): void;
  text(text: string): string;
  /** As `text`, which it is unless told, for what a member of a JSON object is called. */
  name?(text: string): string;
}

/** A secret that holds or overlaps another one leaves nothing of that behind. */
export function createRedactor(secrets: Iterable<string> = []): Redactor {
  const forms = new Needles();
  const redactor: Redactor = {
    add(secret) {
      if (secret.length >= SHORTEST) for (const form of writtenForms(secret)) forms.add(form);
    },
    text(text) {
      const pieces: string[] = [];
      let done = 0;
      for (const { from, to } of forms.in(text)) {
        pieces.push(text.slice(done, from), REDACTED);
        done = to;
      }
      return done === 0 ? text : pieces.join('') + text.slice(done);
    },
  };
  for (const secret of secrets) redactor.add(secret);
  return redactor;
}

/** A text as it is, and as JSON, URLs and base64 write it. */
export function writtenForms(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const percent = encodeURIComponent(secret.toWellFormed());
  const lower = percent.replace(/%[\dA-F]{2}/g, code => code.toLowerCase());
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  const base64url = Buffer.from(secret).toString('base64url');
  return [secret, json, json.replaceAll('/', '\\/'), percent, lower, base64, base64url];
}

/** Whether a header is one of those that carry no credential. */
export function isPlainHeader(name: string): boolean {
  return PLAIN_HEADERS.has(name.toLowerCase());
}

/** An allow-list: a header nobody thought of may carry a credential. */
export function redactHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, isPlainHeader(name) ? value : REDACTED]),
  );
}

/** A URL without user, query and fragment; something that is no URL becomes the placeholder whole. */
export function bareUrl(text: string): string {
  try {
    const url = new URL(text);
    return `${url.protocol}//${url.host}${url.pathname}`;
  } catch {
    return REDACTED;
  }
}

/** So many characters of a path may be a token. */
const TOKEN_LIKE = /[\w.~-]{16}/;

/** As {@link bareUrl}, without what may be a token in its path; a path alone will do. */
export function tokenlessUrl(text: string): string {
  const bare = text.startsWith('/') ? text.replace(/[?#].*/s, '') : bareUrl(text);
  const [origin = ''] = /^(?:[a-z]+:\/\/[^/]*)?/i.exec(bare) ?? [];
  const segments = bare.slice(origin.length).split('/');
  return origin + segments.map(each => (mayBeToken(each) ? REDACTED : each)).join('/');
}

/** What is percent-encoded counts, too: nobody else writes long words so. */
function mayBeToken(segment: string): boolean {
  return TOKEN_LIKE.test(segment.replace(/%[\da-f]{2}/gi, '_'));
}
