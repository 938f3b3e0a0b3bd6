import { decodeUtf8 } from '../text/json.js';
import { bareUrl, type Redactor } from '../text/redact.js';
import { redactJson } from '../text/redact-json.js';
import type { Content } from './content.js';

/** A body as it may leave the machine: secrets out, an `auth_url` without its query (threats, row 25). Null where it is no text. */
export function shareableText(content: Content, redactor: Redactor): string | null {
  const text = decodeUtf8(content.bytes);
  if (text === null) return null;
  return content.json.ok ? redactJson(withoutAuthQuery(content, text), redactor) : redactor.text(text);
}

function withoutAuthQuery({ json }: Content, text: string): string {
  if (!json.ok || typeof json.value !== 'object' || json.value === null || !('auth_url' in json.value))
    return text;
  return JSON.stringify({ ...json.value, auth_url: bareUrl(String(json.value.auth_url)) });
}
