import type { Content } from '../exchange/content.js';
import type { Event, RequestEvent, ResponseEvent } from '../exchange/events.js';
import { shareableText, shareableUrl } from '../exchange/shareable.js';
import { type Redactor, redactHeaders } from '../text/redact.js';
import { visible, visibleLine } from '../text/visible.js';

const MAX_BODY = 64 * 1024;

type BrokenEvent = Extract<Event, { kind: 'broken' }>;

/**
 * `-v`: the invocation and what came back, selections and notices, as curl shows them; secrets out, foreign text safe. Discovery is
 * none of them: `toolset` shows its document.
 */
export function verboseTeller(redactor: Redactor, write: (text: string) => unknown): (event: Event) => void {
  const pending = new Set<string>();
  return event => {
    if (event.kind === 'request' && event.purpose !== 'discovery') {
      pending.add(event.leg);
      write(requestText(event, redactor));
    }
    if ((event.kind === 'response' || event.kind === 'broken') && pending.delete(event.leg))
      write(event.kind === 'broken' ? brokenText(event) : responseText(event, redactor));
  };
}

function requestText(event: RequestEvent, redactor: Redactor): string {
  const { method, headers, body } = event;
  const first = `${method} ${visibleLine(shareableUrl(event, redactor))}`;
  return headText('>', first, headers, redactor) + bodyText(body, redactor);
}

function responseText({ status, headers, body }: ResponseEvent, redactor: Redactor): string {
  return headText('<', String(status), headers, redactor) + bodyText(body, redactor);
}

function brokenText({ phase, code }: BrokenEvent): string {
  return `* not answered: ${code} (${phase})\n`;
}

function headText(
  sign: string,
  first: string,
  headers: Readonly<Record<string, string>>,
  redactor: Redactor,
): string {
  const fields = Object.entries(redactHeaders(headers)).map(
    ([name, value]) => `${name}: ${visibleLine(redactor.text(value))}`,
  );
  return [first, ...fields].map(line => `${sign} ${line}\n`).join('');
}

function bodyText(body: Content | undefined, redactor: Redactor): string {
  if (!body || body.size === 0) return '';
  const text = shareableText(body, redactor) ?? `(${body.size} bytes that are not UTF-8)`;
  const rest = text.length > MAX_BODY ? `\n… ${text.length - MAX_BODY} more characters` : '';
  return `\n${visible(text.slice(0, MAX_BODY))}${rest}\n`;
}
