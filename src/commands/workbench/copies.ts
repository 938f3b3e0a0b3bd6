import { randomUUID } from 'node:crypto';
import type { CallLog } from '../../events/call-log.js';
import type { Event, RequestEvent } from '../../events/events.js';
import { shareableText } from '../../events/shareable.js';
import { type Invocation, readInvocation } from '../../protocol/invocation.js';
import type { ActionResult } from '../../tui/screen/effects.js';
import type { ShellLine, Source } from '../../tui/workbench/model.js';
import { isPlainHeader, redactHeaders } from '../../util/headers.js';
import { parseJson } from '../../util/json.js';
import type { Redactor } from '../../util/redact.js';
import { safeJson } from '../../util/safe-json.js';
import { shellWord } from '../../util/shell-word.js';
import { argumentWords, isVisible } from '../argument-words.js';
import { curlOf, PLACEHOLDER_CALLBACK, placeholdersIn } from '../invoke/request.js';
import type { ConfiguredTarget, Target } from '../target.js';
import { failed } from './calls.js';

interface CalledAs {
  readonly target: ConfiguredTarget | Target;
  /** The thread given for all calls; if undefined, each call gets a new one. */
  readonly groupId: string | undefined;
  readonly validates: boolean;
}

/** A call that was sent over RAP: the invocation without secrets, the URL whole. */
interface SentCall {
  readonly request: RequestEvent;
  readonly url: string;
  readonly invocation: Invocation;
}

/** Returns null if the call was not sent over RAP, or cannot be parsed. */
function sentCall({ callLog, redactor }: Pick<Source, 'callLog' | 'redactor'>, key: string): SentCall | null {
  const requests = callLog.of(key).filter(isInvocation);
  const request = requests.find(({ url }) => !isPath(url)) ?? requests[0];
  const url = request ? addressOf(request) : null;
  if (!request?.body || request.dialect !== undefined || url === null) return null;
  const reading = readInvocation(parseJson(shareableText(request.body, redactor) ?? ''));
  return reading.ok ? { request, url, invocation: reading.invocation } : null;
}

function isInvocation(event: Event): event is RequestEvent {
  return event.kind === 'request' && event.purpose === 'invocation';
}

/** A host name or an address, optionally with a port. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** A transcript recorded by the server has only the path and the `Host`. */
function addressOf({ url, headers }: RequestEvent): string | null {
  if (!isPath(url)) return url;
  const [, host = ''] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'host') ?? [];
  return HOST.test(host) ? `http://${host}${url}` : null;
}

function isPath(url: string): boolean {
  return url.startsWith('/');
}

/** The copies of a call. */
export interface Copies {
  curl(): ShellLine;
  command(): ShellLine | ActionResult;
}

/** Returns null if it was not sent. @param called null for a call of a transcript */
export function copiesOf(
  source: Pick<Source, 'callLog' | 'redactor'>,
  key: string,
  called: CalledAs | null,
): Copies | null {
  const sent = sentCall(source, key);
  return (
    sent && {
      curl: () => asCurl(sent, source.redactor, called?.groupId),
      command: () => asCommand(sent, source.redactor, called ?? calledIn(source.callLog, sent.url)),
    }
  );
}

/**
 * Returns a call as a `curl` command. It gets new ids, otherwise a tool would treat it as a retry. Secrets and the callback URL must be
 * filled in.
 */
function asCurl(
  { request, url, invocation }: SentCall,
  redactor: Redactor,
  groupId: string | undefined,
): ShellLine {
  // The other plain headers are those of a connection: curl sends its own.
  const headers = Object.entries(redactHeaders(request.headers)).filter(
    ([name]) => /^(accept|content-type)$/i.test(name) || !isPlainHeader(name),
  );
  const manual = {
    method: 'POST',
    url: redactor.text(url),
    headers: Object.fromEntries(headers),
    body: {
      ...invocation,
      id: `call_${randomUUID()}`,
      call_id: null,
      callback_url: PLACEHOLDER_CALLBACK,
      group_id: groupId === undefined ? `thread_${randomUUID()}` : invocation.group_id,
    },
  } as const;
  return { text: curlOf(manual), gaps: placeholdersIn(manual) };
}

/** Returns a call as a command of this program, or why no command makes the same call. */
function asCommand(
  { request, invocation }: SentCall,
  redactor: Redactor,
  as: CalledAs,
): ShellLine | ActionResult {
  const isSecret = (text: string) => redactor.text(text) !== text;
  if (Object.values(as.target).some(part => typeof part === 'string' && isSecret(part)))
    return noCommand('a secret is in the name of its server');
  if (isSecret(as.groupId ?? '')) return noCommand('a secret is in the name of its thread');
  const headers = Object.keys(request.headers).filter(name => !isPlainHeader(name));
  const line = wordsOf(invocation, as, headers);
  const why = whyNot(invocation, line);
  if (why !== null) return noCommand(why);
  const { arguments: args, user_id, thread_ancestors } = invocation;
  const body = { arguments: args, user_id, thread_ancestors };
  const gaps = placeholdersIn({ headers: redactHeaders(request.headers), body });
  return { text: line.map(word => shellWord(word, process.platform)).join(' '), gaps };
}

function noCommand(why: string): ActionResult {
  return failed(`no line of this program is the same call: ${why}`);
}

/** Returns where a call of a transcript was sent, as far as the transcript shows it. */
function calledIn(callLog: CallLog, url: string): CalledAs {
  const base = callLog.history.toolsets.findLast(({ endpoint }) => endpoint === url)?.base;
  const target = base ? ({ kind: 'url', url: base } as const) : ({ kind: 'endpoint', url } as const);
  return { target, groupId: undefined, validates: true };
}

/** Returns the words of a command line of this program. @param headers names of headers whose values are secret */
function wordsOf(
  { operation, arguments: args, user_id: user, thread_ancestors: ancestors }: Invocation,
  { target, groupId, validates }: CalledAs,
  headers: readonly string[],
): readonly string[] {
  const given = argumentWords(args);
  const words = [
    ...(target.kind === 'url' || target.kind === 'endpoint' ? [target.url] : []),
    operation,
    ...given.words,
  ];
  return [
    'protocol-cli',
    'invoke',
    ...headers.flatMap(name => ['-H', `${name}: [redacted]`]),
    ...optionsFor(target),
    ...(user ? ['--user-id', user] : []),
    ...(groupId === undefined ? [] : ['--group-id', groupId]),
    ...(ancestors ?? []).flatMap(ancestor => ['--ancestor', ancestor]),
    ...(validates ? [] : ['--no-validate']),
    ...given.options,
    ...(words.some(word => word.startsWith('-')) ? ['--'] : []),
    ...words,
  ];
}

function optionsFor(target: ConfiguredTarget | Target): readonly string[] {
  if (target.kind === 'command') return ['--command', target.command];
  if (target.kind === 'endpoint' || target.kind === 'demo') return [`--${target.kind}`];
  return []; // without a URL, `invoke` searches the servers of `.infinity/rap.json`
}

/** Refuses a command line with hidden characters, or with JSON that this program refuses, such as an inexact number. */
function whyNot({ operation, arguments: args }: Invocation, line: readonly string[]): string | null {
  if (operation === '' || operation.includes('=') || operation.includes('://'))
    return 'its operation would be read as an argument or a URL';
  const reading = parseJson(safeJson(args));
  const inexact = reading.ok ? reading.notes[0] : reading.reason;
  if (inexact !== undefined) return `in its arguments ${inexact}`;
  return line.every(isVisible) ? null : 'it holds characters that are not seen';
}
