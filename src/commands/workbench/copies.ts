import { randomUUID } from 'node:crypto';
import type { CallLog } from '../../events/call-log.js';
import type { Event, RequestEvent } from '../../events/events.js';
import { shareableText } from '../../events/shareable.js';
import { type Invocation, readInvocation } from '../../protocol/read-invocation.js';
import { concerning } from '../../render/wire.js';
import type { Said, ShellLine, Volume } from '../../tui/workbench/model.js';
import { parseJson } from '../../util/json.js';
import { isPlainHeader, type Redactor, redactHeaders, safeJson } from '../../util/redact.js';
import { shellWord } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import { curlOf, gapsIn, YOUR_CALLBACK } from '../invoke/dry-run.js';
import type { McpTarget, Target } from '../target.js';

/** How a call was made. */
export interface CalledAs {
  readonly target: Target | McpTarget;
  /** The thread that was named for all calls; null: a fresh one. */
  readonly groupId: string | null;
  /** False where the arguments were sent without validation. */
  readonly validates: boolean;
}

/** An invocation that was sent. */
interface SentCall {
  readonly request: RequestEvent;
  /** With its secrets. */
  readonly url: string;
  /** Without secrets. */
  readonly invocation: Invocation;
  readonly redactor: Redactor;
}

/** Null where the call was not sent over RAP, cannot be read, or its URL is unknown. */
export function sentCall(
  { book, redactor }: { readonly book: CallLog; readonly redactor: Redactor },
  key: string,
): SentCall | null {
  const requests = book.of(key).filter(isInvocation);
  const request = requests.find(({ url }) => !isPath(url)) ?? requests[0];
  const url = request ? addressOf(request) : null;
  if (!request?.body || request.dialect !== undefined || url === null) return null;
  const reading = readInvocation(parseJson(shareableText(request.body, redactor) ?? ''));
  return reading.ok ? { request, url, invocation: reading.invocation, redactor } : null;
}

function isInvocation(event: Event): event is RequestEvent {
  return event.kind === 'request' && event.purpose === 'invocation';
}

/** A name or an address, and a port. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** The receiver of a request knows the path, and the `Host`. */
function addressOf({ url, headers }: RequestEvent): string | null {
  if (!isPath(url)) return url;
  const [, host = ''] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'host') ?? [];
  return HOST.test(host) ? `http://${host}${url}` : null;
}

function isPath(url: string): boolean {
  return url.startsWith('/');
}

/** Headers of the connection: curl sends its own. */
const CONNECTION_HEADERS = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'date',
  'host',
  'keep-alive',
  'transfer-encoding',
  'user-agent',
]);

/**
 * A call as a `curl` command. It has ids of its own, or a tool would take it for a retry. Secrets and the callback URL have to be filled
 * in.
 */
export function asCurl({ request, url, invocation, redactor }: SentCall, keepsThread: boolean): ShellLine {
  const headers = Object.entries(redactHeaders(request.headers)).filter(
    ([name]) => !CONNECTION_HEADERS.has(name.toLowerCase()),
  );
  const byHand = {
    method: 'POST',
    url: redactor.text(url),
    headers: Object.fromEntries(headers),
    body: {
      ...invocation,
      id: `call_${randomUUID()}`,
      call_id: null,
      callback_url: YOUR_CALLBACK,
      group_id: keepsThread ? invocation.group_id : `thread_${randomUUID()}`,
    },
  } as const;
  return { text: curlOf(byHand), gaps: gapsIn(byHand) };
}

/** A call as a command of this program; else why no command makes the same call. */
export async function asCommand(
  volume: Volume,
  key: string,
  called: CalledAs | null,
): Promise<ShellLine | Said> {
  const sent = sentCall(volume, key);
  if (!sent) return { text: 'nothing of this call was sent that could be copied', isBad: true };
  const { request, invocation, redactor } = sent;
  const { target, groupId, validates } = called ?? (await calledIn(volume.book, key, sent.url));
  const isSecret = (text: string) => redactor.text(text) !== text;
  const place = 'url' in target ? target.url : target.kind === 'command' ? target.command : '';
  if (isSecret(place)) return noCommand('a secret is in the name of its server');
  if (isSecret(groupId ?? '')) return noCommand('a secret is in the name of its thread');
  const headers = Object.keys(request.headers).filter(name => !isPlainHeader(name));
  const line = commandLine({ target, groupId, validates, invocation, headers });
  if (!line.ok) return noCommand(line.why);
  const { arguments: args, user_id, thread_ancestors } = invocation;
  const body = { arguments: args, user_id, thread_ancestors };
  return { text: line.line, gaps: gapsIn({ headers: redactHeaders(request.headers), body }) };
}

function noCommand(why: string): Said {
  return { text: `no line of this program is the same call: ${why}`, isBad: true };
}

/** How a call of a transcript was made, as far as the transcript shows. */
async function calledIn(book: CallLog, key: string, url: string): Promise<CalledAs> {
  const loaded = book.history.toolsets.findLast(({ endpoint }) => endpoint === url);
  if (!loaded?.base) return { target: { kind: 'endpoint', url }, groupId: null, validates: true };
  const exchange = book.history.exchanges.get(key);
  const { checkTranscript } = await import('../../check/judge.js');
  const { summary } = await checkTranscript(exchange ? concerning(book.whole, exchange) : [], {
    observer: book.observer,
    only: new Set(['RT-ARGS'] as const),
    sides: ['runtime'],
  });
  const validates = summary.fail === 0 && summary.warn === 0;
  return { target: { kind: 'url', url: loaded.base }, groupId: null, validates };
}

export interface Repeatable extends CalledAs {
  readonly invocation: Pick<Invocation, 'operation' | 'arguments' | 'user_id' | 'thread_ancestors'>;
  /** Names of headers whose values are secret. */
  readonly headers: readonly string[];
}

/**
 * A call as a command of this program for a POSIX shell. It is refused where it would hold invisible characters outside of its JSON, or
 * JSON that our own reader refuses, such as a number that cannot be held exactly.
 */
export function commandLine({
  target,
  invocation,
  groupId,
  validates,
  headers,
}: Repeatable): { readonly ok: true; readonly line: string } | { readonly ok: false; readonly why: string } {
  const { operation, arguments: args, user_id: user, thread_ancestors: ancestors } = invocation;
  const { words: place, options } = placeWords(target);
  const entries = Object.entries(args);
  const fitsWords = entries.every(([key]) => isKey(key));
  const words = [
    ...place,
    operation,
    ...(fitsWords ? entries.map(([key, value]) => argumentWord(key, value)) : []),
  ];
  const line = [
    'protocol-cli',
    'invoke',
    ...headers.flatMap(name => ['-H', `${name}: [redacted]`]),
    ...options,
    ...(user ? ['--user-id', user] : []),
    ...(groupId === null ? [] : ['--group-id', groupId]),
    ...(ancestors ?? []).flatMap(ancestor => ['--ancestor', ancestor]),
    ...(validates ? [] : ['--no-validate']),
    ...(fitsWords ? [] : ['--args', safeJson(args)]),
    ...(words.some(word => word.startsWith('-')) ? ['--'] : []),
    ...words,
  ];
  const why = whyNot(operation, args, line);
  return why === null ? { ok: true, line: line.map(shellWord).join(' ') } : { ok: false, why };
}

function whyNot(operation: string, args: Invocation['arguments'], line: readonly string[]): string | null {
  if (operation === '' || operation.includes('=') || operation.includes('://'))
    return 'its operation would be read as an argument or a URL';
  const reading = parseJson(safeJson(args));
  const inexact = reading.ok ? reading.notes[0] : reading.reason;
  if (inexact !== undefined) return `in its arguments ${inexact}`;
  return line.every(isVisible) ? null : 'it holds characters that are not seen';
}

interface PlaceWords {
  readonly words: readonly string[];
  readonly options: readonly string[];
}

function placeWords(target: CalledAs['target']): PlaceWords {
  switch (target.kind) {
    case 'url':
      return { words: [target.url], options: [] };
    case 'endpoint':
      return { words: [target.url], options: ['--endpoint'] };
    case 'demo':
      return { words: [], options: ['--demo'] };
    case 'mcp': // without a URL, `invoke` looks through the servers of `.infinity/rap.json`
      return { words: [], options: [] };
    case 'command':
      return { words: [], options: ['--command', target.command] };
  }
}

/** A text that a schema could turn into another value is JSON. */
function argumentWord(key: string, value: unknown): string {
  const isPlain =
    typeof value === 'string' && isVisible(value) && !value.startsWith('@') && !parseJson(value).ok;
  return isPlain ? `${key}=${value}` : `${key}:=${safeJson(value)}`;
}

function isKey(key: string): boolean {
  return key !== '' && !key.includes('=') && !key.endsWith(':') && isVisible(key);
}

/** No character acts on a terminal, or hides there. */
function isVisible(word: string): boolean {
  return visibleLine(word) === word;
}
