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
}

export function createRedactor(secrets: Iterable<string> = []): Redactor {
  const forms = new Set<string>();
  const redactor: Redactor = {
    add(secret) {
      if (secret.length >= SHORTEST) for (const form of writtenForms(secret)) forms.add(form);
    },
    text(text) {
      let clean = text;
      for (const form of longestFirst(forms)) clean = clean.replaceAll(form, REDACTED);
      return clean;
    },
  };
  for (const secret of secrets) redactor.add(secret);
  return redactor;
}

/** A secret that holds another one must not leave its rest behind. */
function longestFirst(forms: ReadonlySet<string>): string[] {
  return [...forms].sort((a, b) => b.length - a.length);
}

function writtenForms(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const percent = encodeURIComponent(secret.toWellFormed());
  const lower = percent.replace(/%[\dA-F]{2}/g, code => code.toLowerCase());
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  const base64url = Buffer.from(secret).toString('base64url');
  return [secret, json, json.replaceAll('/', '\\/'), percent, lower, base64, base64url];
}

/** An allow-list: a header nobody thought of may carry a credential. */
export function redactHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      PLAIN_HEADERS.has(name.toLowerCase()) ? value : REDACTED,
    ]),
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
