import type { Content } from '../exchange/content.js';
import type { Event, RequestEvent, ResponseEvent } from '../exchange/events.js';
import { shareableText } from '../exchange/shareable.js';
import { type Redactor, redactHeaders } from '../text/redact.js';
import { visible, visibleLine } from '../text/visible.js';

const MAX_BODY = 64 * 1024;

/** `-v`: the invocation and what came back, as curl shows them; secrets out, foreign text safe. */
export function verboseTeller(redactor: Redactor, write: (text: string) => unknown): (event: Event) => void {
  const shown = new Set<string>();
  return event => {
    if (event.kind === 'request' && (event.purpose === 'invocation' || event.purpose === 'callback')) {
      shown.add(event.leg);
      write(redactor.text(requestText(event, redactor)));
    }
    if (event.kind === 'response' && shown.has(event.leg))
      write(redactor.text(responseText(event, redactor)));
  };
}

function requestText({ method, url, headers, body }: RequestEvent, redactor: Redactor): string {
  return message('>', `${method} ${visibleLine(url)}`, headers, bodyText(body, redactor));
}

function responseText({ status, headers, body }: ResponseEvent, redactor: Redactor): string {
  return message('<', String(status), headers, bodyText(body, redactor));
}

function message(
  sign: string,
  first: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): string {
  const fields = Object.entries(redactHeaders(headers)).map(
    ([name, value]) => `${name}: ${visibleLine(value)}`,
  );
  return [first, ...fields].map(line => `${sign} ${line}\n`).join('') + body;
}

function bodyText(body: Content | undefined, redactor: Redactor): string {
  if (!body || body.bytes.length === 0) return '';
  const text = shareableText(body, redactor) ?? `(${body.bytes.length} bytes that are not UTF-8)`;
  const rest = text.length > MAX_BODY ? `\n… ${text.length - MAX_BODY} more characters` : '';
  return `\n${visible(text.slice(0, MAX_BODY))}${rest}\n`;
}
