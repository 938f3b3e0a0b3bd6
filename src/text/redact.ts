import { Beginnings } from './beginnings.js';
import { Needles, type Span } from './needles.js';
import { visibleLine } from './visible.js';

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
  /** As `text`, which it is unless told, for words of ours: of foreign text in them a cut may have left the beginning of a secret. */
  words?(text: string): string;
}

/** A secret that holds or overlaps another one leaves nothing of that behind, nor does one that was cut. */
export function createRedactor(secrets: Iterable<string> = []): Redactor {
  const forms = new Needles();
  const beginnings = new Beginnings();
  const text = (each: string) => withoutSpans(each, forms.in(each));
  const redactor: Redactor = {
    add(secret) {
      if (secret.length < SHORTEST) return;
      for (const form of writtenForms(secret)) {
        forms.add(form);
        beginnings.add(form);
      }
    },
    text,
    words: each => withoutCut(text(each), beginnings),
  };
  for (const secret of secrets) redactor.add(secret);
  return redactor;
}

/** Words of ours that quote foreign text, with nothing secret in them. */
export function cleanWords(redactor: Redactor, text: string): string {
  return redactor.words?.(text) ?? redactor.text(text);
}

/** Whoever cuts a foreign text knows no secrets, and whoever knows them may see no more than the first part of one. */
export function withoutCut(text: string, secrets: Beginnings): string {
  return withoutSpans(text, secrets.in(text));
}

/** @param spans in order, none of which overlaps another one */
export function withoutSpans(text: string, spans: readonly Span[]): string {
  const pieces: string[] = [];
  let done = 0;
  for (const { from, to } of spans) {
    pieces.push(text.slice(done, from), REDACTED);
    done = to;
  }
  return done === 0 ? text : pieces.join('') + text.slice(done);
}

/** A text as it is, and as JSON, URLs, base64 and a line on a screen write it. */
export function writtenForms(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const percent = encodeURIComponent(secret.toWellFormed());
  const lower = percent.replace(/%[\dA-F]{2}/g, code => code.toLowerCase());
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  const base64url = Buffer.from(secret).toString('base64url');
  return [secret, json, json.replaceAll('/', '\\/'), percent, lower, base64, base64url, visibleLine(secret)];
}

/** Whether a header is one of those that carry no credential. */
export function isPlainHeader(name: string): boolean {
  return PLAIN_HEADERS.has(name.toLowerCase());
}

/** An allow-list: a header nobody thought of may carry a credential. @param redactor of what is secret in the others */
export function redactHeaders(
  headers: Readonly<Record<string, string>>,
  redactor: Pick<Redactor, 'text'> = AS_IT_IS,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      isPlainHeader(name) ? redactor.text(value) : REDACTED,
    ]),
  );
}

const AS_IT_IS = { text: (text: string) => text };

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
