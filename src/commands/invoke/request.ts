import type { Tool } from '../../protocol/toolset.js';
import type { Wire } from '../../runtime/wire.js';
import { REDACTED } from '../../util/redact.js';
import { safeJson } from '../../util/safe-json.js';
import { quotedWord } from '../../util/shell-word.js';
import { visibleLine } from '../../util/visible.js';
import { type InvokePlan, invocationOf } from './plan.js';
import type { Preview } from './protocol.js';

/** A request that is not sent, without its secrets. */
interface DryRequest {
  readonly method: 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** A call over RAP that is not made. */
interface DryCall {
  readonly wire: Pick<Wire, 'headers' | 'withheldFrom'>;
  readonly endpoint: string;
  readonly tool: Pick<Tool, 'name'>;
  readonly args: Record<string, unknown>;
}

/** What `--dry-run` shows of a call over RAP. */
export function previewOf(
  { wire, endpoint, tool, args }: DryCall,
  { listener, identity }: Pick<InvokePlan, 'listener' | 'identity'>,
): Preview {
  const isWithheld = wire.withheldFrom(endpoint).length > 0;
  const redacted = Object.fromEntries(
    Object.keys(isWithheld ? {} : wire.headers).map(name => [name, REDACTED]),
  );
  const callback_url = `${listener.publicUrl ?? 'http://127.0.0.1:PORT'}/callback/TOKEN`;
  const request = {
    method: 'POST',
    url: endpoint,
    headers: { 'content-type': 'application/json', ...redacted },
    body: { ...invocationOf(identity, tool.name, args), callback_url },
  } as const;
  const manual = { ...request, body: { ...request.body, callback_url: PLACEHOLDER_CALLBACK } };
  return {
    text: requestText(request, manual),
    report: { request, curl: curlOf(manual) },
    advice: `before you run the curl, fill in: ${placeholdersIn(manual).join(', ')}\n`,
  };
}

/** Placeholder callback URL for a call that the user sends with curl. */
export const PLACEHOLDER_CALLBACK = 'https://your-callback.example/';

/** Formats the request as a shell command, with one line for each header; a POSIX shell also has one for each member of the body. */
export function curlOf(
  { method, url, headers, body }: DryRequest,
  platform: NodeJS.Platform = process.platform,
): string {
  const members = Object.entries(body).map(([name, value]) => `${safeJson(name)}: ${safeJson(value)}`);
  const isCmd = platform === 'win32';
  const data = isCmd ? `{${members.join(', ')}}` : `{\n  ${members.join(',\n  ')}\n}`;
  return [
    // curl interprets brackets and braces in a URL as ranges or lists.
    `curl${/[[\]{}]/.test(url) ? ' --globoff' : ''} -X ${method}`,
    quotedWord(visibleLine(url), platform),
    ...headerLines(headers).map(header => `-H ${quotedWord(header, platform)}`),
    `-d ${quotedWord(data, platform)}`,
  ].join(isCmd ? ' ^\n  ' : ' \\\n  ');
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
