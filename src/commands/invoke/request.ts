import { REDACTED, safeJson } from '../../util/redact.js';
import { quoted } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';

/** A request that is not sent, without its secrets. */
interface DryRequest {
  readonly method: 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** Placeholder callback URL for a call that the user sends with curl. */
export const PLACEHOLDER_CALLBACK = 'https://your-callback.example/';

/** Formats the request as a shell command, with one line for each header and each member of the body. */
export function curlOf({ method, url, headers, body }: DryRequest): string {
  const members = Object.entries(body).map(([name, value]) => `  ${safeJson(name)}: ${safeJson(value)}`);
  return [
    // curl interprets brackets and braces in a URL as ranges or lists.
    `curl${/[[\]{}]/.test(url) ? ' --globoff' : ''} -X ${method}`,
    quoted(visibleLine(url)),
    ...headerLines(headers).map(header => `-H ${quoted(header)}`),
    `-d ${quoted(`{\n${members.join(',\n')}\n}`)}`,
  ].join(' \\\n  ');
}

/** Returns the names of the placeholders that the user must fill in before running the command. */
export function placeholdersIn({ headers, body }: Pick<DryRequest, 'headers' | 'body'>): readonly string[] {
  const isOpen = (value: unknown) =>
    value === PLACEHOLDER_CALLBACK || safeJson(value ?? null).includes(REDACTED);
  return [...Object.entries(body), ...Object.entries(headers)].flatMap(([name, value]) =>
    isOpen(value) ? [name] : [],
  );
}

/** Formats the request for people, followed by its command. */
export function requestText(request: DryRequest, manual = request): string {
  const { method, url, headers, body } = request;
  const head = [`${method} ${visibleLine(url)}`, ...headerLines(headers)].join('\n');
  return `${head}\n\n${safeJson(body, 2)}\n\n${curlOf(manual)}\n`;
}

function headerLines(headers: DryRequest['headers']): string[] {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
}
