import { safeJson } from '../../text/json-safe.js';
import { quoted } from '../../text/shell-word.js';
import { visibleLine } from '../../text/visible.js';

/** A request that is not sent, as it would be; what is secret in it is left out. */
export interface DryRequest {
  readonly method: 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** The same as a line for a shell. */
export function curlOf({ method, url, headers, body }: DryRequest): string {
  const words = [
    `curl -X ${method}`,
    quoted(visibleLine(url)),
    ...headerLines(headers).map(header => `-H ${quoted(header)}`),
    `-d ${quoted(safeJson(body))}`,
  ];
  return words.join(' \\\n  ');
}

/** The request as a person reads it, then its curl line. */
export function requestText(request: DryRequest): string {
  const { method, url, headers, body } = request;
  const head = [`${method} ${visibleLine(url)}`, ...headerLines(headers)].join('\n');
  return `${head}\n\n${safeJson(body, 2)}\n\n${curlOf(request)}\n`;
}

function headerLines(headers: DryRequest['headers']): string[] {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
}
