import type { Callback } from '../protocol/callbacks/index.js';
import { isRecord } from '../text/is-record.js';
import { decodeUtf8 } from '../text/json.js';
import { bareUrl, type Redactor, tokenlessUrl } from '../text/redact.js';
import { redactJson } from '../text/redact-json.js';
import type { Content } from './content.js';
import type { RequestEvent } from './events.js';

/**
 * A body as it may leave the machine: secrets out, an `auth_url` without its query, a `response_url` without its token (threats,
 * row 25). Null where it is no text.
 */
export function shareableText(content: Content, redactor: Redactor): string | null {
  const text = decodeUtf8(content.bytes);
  if (text === null) return null;
  return content.json.ok ? redactJson(withoutPower(content, text), redactor) : redactor.text(text);
}

/** A callback as it may leave the machine, but for secrets that are known by their value. */
export function shareableMessage(message: Callback): Callback {
  if (message.type === 'oauth') return { ...message, auth_url: bareUrl(message.auth_url) };
  if (message.type === 'user_choice') return { ...message, response_url: tokenlessUrl(message.response_url) };
  return message;
}

/** Where a request went, as it may leave the machine: whoever has the address of a question can answer it. */
export function shareableUrl({ purpose, url }: RequestEvent, redactor: Redactor): string {
  return redactor.text(purpose === 'choice' ? tokenlessUrl(url) : url);
}

/** What is not changed stays as it was written. */
function withoutPower({ json }: Content, text: string): string {
  const message = json.ok ? json.value : null;
  if (!isRecord(message)) return text;
  const fields = shareableFields(message);
  const isSame = Object.entries(fields).every(([name, url]) => message[name] === url);
  return isSame ? text : JSON.stringify({ ...message, ...fields });
}

function shareableFields(message: Readonly<Record<string, unknown>>): Record<string, string> {
  const { type, auth_url, response_url } = message;
  return {
    ...('auth_url' in message && { auth_url: bareUrl(String(auth_url)) }),
    ...(type === 'user_choice' &&
      'response_url' in message && { response_url: tokenlessUrl(String(response_url)) }),
  };
}
