import { REDACTED, type Redactor } from './redact.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Headers of the connection, which users cannot set. */
const RESERVED = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'content-type',
  'content-encoding',
  'accept-encoding',
]);

const NAME = /^[!#$%&'*+.^_`|~\w-]+$/;

const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Whether HTTP allows a header with this name and this value. */
export function isHeader(name: string, value: string): boolean {
  return NAME.test(name) && VALUE.test(value);
}

/** Returns why users cannot set a header; null if they can. */
export function reservedHeader(name: string): string | null {
  return RESERVED.has(name.toLowerCase())
    ? `the header ${name} belongs to the connection and cannot be set`
    : null;
}

/** A Content-Type without parameters, in lower case (RFC 9110, section 8.3). */
export function mediaTypeOf(contentType: string): string {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Whether an answer asks for credentials. A 403 alone does not: a framework may refuse every POST (CSRF). */
export function asksForCredentials(status: number, headers: Readonly<Record<string, unknown>>): boolean {
  return status === 401 || (status === 403 && headers['www-authenticate'] !== undefined);
}

/** The value, or for `env:NAME` that of the variable, which does not appear in the list of processes or in a file. */
export function valueOrVariable(
  given: string,
  env: Environment,
): { readonly value: string } | { readonly missing: string } {
  if (!given.startsWith('env:')) return { value: given };
  const name = given.slice('env:'.length);
  const value = env[name];
  return value ? { value } : { missing: `the environment variable ${name} is not set` };
}

/** The allow-list of headers that a transcript may show. */
const PLAIN_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'allow',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'host',
  'keep-alive',
  'retry-after',
  'sec-fetch-mode',
  'server',
  'transfer-encoding',
  'user-agent',
  'x-content-type-options',
]);

/** Whether a header is on the allow-list. */
export function isPlainHeader(name: string): boolean {
  return PLAIN_HEADERS.has(name.toLowerCase());
}

/** Redacts every header that is not on the allow-list. @param redactor for values of allowed headers */
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
