import { safeJson } from '../../text/json-safe.js';
import { REDACTED } from '../../text/redact.js';
import { quoted } from '../../text/shell-word.js';
import { visibleLine } from '../../text/visible.js';

/** A request that is not sent, as it would be; what is secret in it is left out. */
export interface DryRequest {
  readonly method: 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** Where the callbacks of a call go that is sent by hand: whoever sends it listens elsewhere than we do. */
export const YOUR_CALLBACK = 'https://your-callback.example/';

/** curl takes these in a URL for a range or a list of URLs. */
const GLOBS = /[[\]{}]/;

/** The same as a command for a shell: a row for each header, and for each member of the body. */
export function curlOf({ method, url, headers, body }: DryRequest): string {
  const words = [
    `curl${GLOBS.test(url) ? ' --globoff' : ''} -X ${method}`,
    quoted(visibleLine(url)),
    ...headerLines(headers).map(header => `-H ${quoted(header)}`),
    `-d ${quoted(memberRows(body))}`,
  ];
  return words.join(' \\\n  ');
}

/** What has to be put in before the command can be run, by its names. */
export function gapsIn({ headers, body }: Pick<DryRequest, 'headers' | 'body'>): readonly string[] {
  const isOpen = (value: unknown) => value === YOUR_CALLBACK || safeJson(value ?? null).includes(REDACTED);
  return [...Object.entries(body), ...Object.entries(headers)].flatMap(([name, value]) =>
    isOpen(value) ? [name] : [],
  );
}

/** The request as a person reads it, then its command. */
export function requestText(request: DryRequest, byHand = request): string {
  const { method, url, headers, body } = request;
  const head = [`${method} ${visibleLine(url)}`, ...headerLines(headers)].join('\n');
  return `${head}\n\n${safeJson(body, 2)}\n\n${curlOf(byHand)}\n`;
}

function headerLines(headers: DryRequest['headers']): string[] {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
}

function memberRows(body: object): string {
  const rows = Object.entries(body).map(([name, value]) => `  ${safeJson(name)}: ${safeJson(value)}`);
  return `{\n${rows.join(',\n')}\n}`;
}
