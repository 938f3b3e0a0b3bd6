import type { Event, RequestEvent, ResponseEvent } from '../exchange/events.js';
import { type Redactor, redactHeaders } from '../text/redact.js';
import { visible, visibleLine } from '../text/visible.js';

const MAX_BODY = 64 * 1024;

/** `-v`: the invocation and what came back, as curl shows them; secrets out, foreign text safe. */
export function verboseTeller(redactor: Redactor, write: (text: string) => unknown): (event: Event) => void {
  const shown = new Set<string>();
  return event => {
    if (event.kind === 'request' && (event.purpose === 'invocation' || event.purpose === 'callback')) {
      shown.add(event.leg);
      write(redactor.text(requestText(event)));
    }
    if (event.kind === 'response' && shown.has(event.leg)) write(redactor.text(responseText(event)));
  };
}

function requestText({ method, url, headers, body }: RequestEvent): string {
  return message('>', `${method} ${visibleLine(url)}`, headers, body?.bytes);
}

function responseText({ status, headers, body }: ResponseEvent): string {
  return message('<', String(status), headers, body?.bytes);
}

function message(
  sign: string,
  first: string,
  headers: Readonly<Record<string, string>>,
  bytes?: Uint8Array,
): string {
  const head = [
    first,
    ...Object.entries(redactHeaders(headers)).map(([name, value]) => `${name}: ${visibleLine(value)}`),
  ];
  const rest = bytes && bytes.length > MAX_BODY ? `\n… ${bytes.length - MAX_BODY} more bytes` : '';
  const body =
    bytes && bytes.length > 0
      ? `\n${visible(Buffer.from(bytes.subarray(0, MAX_BODY)).toString('utf8'))}${rest}\n`
      : '';
  return `${head.map(line => `${sign} ${line}\n`).join('')}${body}`;
}
