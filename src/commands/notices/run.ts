import { createLog, type Log } from '../../events/log.js';
import type { HttpClient } from '../../http/client.js';
import { createNodeClient } from '../../http/node-client.js';
import type { Warning } from '../../protocol/requirements.js';
import { baseOf, type Migrate, migrateSchema, type Toolset } from '../../protocol/toolset.js';
import { validate } from '../../protocol/validate.js';
import type { Trouble } from '../../render/outputs/reporter.js';
import { errorReport, troubleText, warningText } from '../../render/outputs/trouble.js';
import { colourLevel } from '../../render/terminal/colour-level.js';
import { createTheme, dressLine } from '../../render/terminal/theme.js';
import { noticeLine, type ToldNotice } from '../../render/toolset.js';
import { discover } from '../../runtime/discover.js';
import {
  type Credentials,
  isTaken,
  type Notice,
  type NoticeAnswer,
  noticeUrl,
  notify,
} from '../../runtime/notices.js';
import { systemClock } from '../../system/drafts.js';
import { writeOut } from '../../system/streams.js';
import { ProtocolCliError } from '../../util/errors.js';
import { bytesText } from '../../util/json-diagnosis.js';
import { createRedactor } from '../../util/redact.js';
import { redactJson, safeJson } from '../../util/redact-json.js';
import { visibleLine } from '../../util/visible.js';
import { readRapConfig, requireServers } from '../rap-config.js';
import {
  type ConfiguredTarget,
  commandOf,
  type HeaderOptions,
  readCredentials,
  readHeaders,
  readTarget,
  secretsOf,
} from '../target.js';
import { type ExitStatus, statusOfFailure, stoppable, type Terminal } from '../terminal.js';
import type { NoticeOptions } from './options.js';

/** A server that is told something, and the headers that it may see. */
interface Server {
  readonly base: string;
  readonly credentials: Credentials;
}

interface Servers {
  readonly servers: readonly Server[];
  readonly notes: readonly Warning[];
}

/**
 * The URL that a word stands for.
 * @throws ProtocolCliError `usage`.
 */
export function urlOf(word: string): string {
  const { url } = splitWords([word]);
  if (url !== null) return url;
  throw new ProtocolCliError('usage', `invalid URL: ${word}`, {
    hint: 'Write http://host:port.',
  });
}

/**
 * The server that the first word names, and the rest of the words.
 * @throws ProtocolCliError `usage`.
 */
export function splitWords(words: readonly string[]): {
  readonly url: string | null;
  readonly rest: readonly string[];
} {
  const { target, rest } = readTarget(words, {});
  return { url: target?.kind === 'url' ? target.url : null, rest };
}

/**
 * The server at a URL, or every one of `.infinity/rap.json` (RT-NOTIFY). Its commands are no servers that could know a call:
 * they would only be started now.
 * @throws ProtocolCliError `usage`, `unreadable-file`.
 */
export async function serversAt(
  url: string | null,
  options: HeaderOptions,
  terminal: Terminal,
): Promise<Servers> {
  const { env } = terminal;
  if (url !== null) return { servers: [serverAt(url, options, env)], notes: [] };
  const config = await readRapConfig(terminal, 'Give its URL, such as http://127.0.0.1:3001.');
  requireServers(config);
  const { targets, warnings } = config;
  const urls = targets.flatMap(each => (each.kind === 'url' ? [each.url] : []));
  const servers = [...new Map(urls.map(each => [baseOf(each), serverAt(each, options, env)])).values()];
  refuseSpreading(servers, readHeaders(options, env));
  const notReached = [...warnings, ...targets.flatMap(notReachedNote)];
  if (servers.length === 0)
    throw new ProtocolCliError('usage', 'no configured server accepts notices', {
      faults: notReached.map(({ message }) => message),
      hint: 'Give the URL of the tool server.',
    });
  return { servers, notes: notReached };
}

function serverAt(url: string, options: HeaderOptions, env: Terminal['env']): Server {
  return { base: baseOf(url), credentials: readCredentials(options, url, env) };
}

/** A credential is meant for one origin, and nobody said which (threats, row 12). */
function refuseSpreading(servers: readonly Server[], headers: Readonly<Record<string, string>>): void {
  const origins = new Set(servers.map(({ credentials }) => credentials.origin));
  if (origins.size < 2 || Object.keys(headers).length === 0) return;
  throw new ProtocolCliError('usage', '.infinity/rap.json has several servers, but headers are for one', {
    hint: 'Give the URL of that server.',
  });
}

function notReachedNote(target: ConfiguredTarget): Warning[] {
  const command = commandOf(target);
  if (command !== null)
    return [{ message: `not notified: ${visibleLine(command)} (this command is not running)` }];
  if (target.kind !== 'mcp') return [];
  return [{ message: `not notified: ${visibleLine(target.name)} (MCP servers take no such notices)` }];
}

/** A notice that went to one server, and what became of it. */
export interface SentNotice {
  readonly base: string;
  readonly notice: Notice;
  readonly answer: NoticeAnswer;
  readonly ms: number;
}

function toldOf({ base, notice, answer, ms }: SentNotice): ToldNotice {
  const url = noticeUrl(notice, base);
  const { message } = notice;
  if (answer.kind === 'answered') return { url, message, status: answer.status, said: answer.excerpt, ms };
  return { url, message, status: null, said: withoutUrl(answer.reason, url), ms };
}

/** The same as data; `said` is what the answer said, or why there was none. */
export function reportOf(sent: SentNotice): object {
  const { url, message, status, said, ms } = toldOf(sent);
  return { notice: sent.notice.kind, url, sent: message, status, ms, ...(said !== '' && { said }) };
}

/** What is worth saying of a notice that was taken: the protocol wants an empty body (TOOL-CLOSE). */
export function warningsOf({ notice, answer }: SentNotice): Warning[] {
  if (notice.kind !== 'close' || answer.kind !== 'answered' || !isTaken(answer)) return [];
  if (answer.bodySize === 0) return [];
  const size = answer.bodySize === null ? '' : ` of ${bytesText(answer.bodySize)}`;
  const message = `the answer to /close_thread has a body${size}; it must be empty`;
  return [{ id: 'TOOL-CLOSE', message }];
}

/** What went wrong, if anything did: one failure in its own words, several as a list. */
export function troubleOf(all: readonly SentNotice[]): Trouble | null {
  const failed = all.filter(({ answer }) => !isTaken(answer));
  const [first] = failed;
  if (!first) return null;
  const code = failed.some(({ answer }) => answer.kind === 'answered')
    ? 'bad-acknowledgement'
    : 'unreachable';
  const hint = hintFor(first);
  if (failed.length === 1) return { code, message: failureOf(first), hint };
  const message = `${failed.length} of ${all.length} notices were not answered with 200`;
  return { code, message, faults: failed.map(failureOf), hint };
}

function failureOf(sent: SentNotice): string {
  const { url, status, said } = toldOf(sent);
  const told = said === '' ? '' : `: ${said}`;
  return status === null ? `no answer from ${url}${told}` : `${url} answered ${status} instead of 200${told}`;
}

const HINTS: Readonly<Record<Notice['kind'], string>> = {
  cancel: 'A tool answers 200 always, whether it knows the call or not (TOOL-CANCEL).',
  close: 'A tool answers 200 always, whether it knows the thread or not (TOOL-CLOSE).',
  migrate: 'The state was not moved: 200 comes only once it was (TOOL-MIGRATE).',
};

function hintFor({ notice, answer }: SentNotice): string | undefined {
  if (answer.kind === 'unanswered') return answer.hint;
  if (answer.status >= 300 && answer.status < 400)
    return 'Redirects are never followed: give the final address.';
  const isBase =
    answer.status === 404 && notice.kind !== 'migrate' ? ' Is this the base URL of the tool server?' : '';
  return HINTS[notice.kind] + isBase;
}

function withoutUrl(reason: string, url: string): string {
  return reason.startsWith(`${url}: `) ? reason.slice(url.length + 2) : reason;
}

/** How notices are told: each as soon as it is answered, or all of them as one object. */
interface NoticeTelling {
  sent(notice: SentNotice): Promise<void>;
  warn(warning: Warning): void;
  /** Nothing more comes; `trouble` is what else went wrong. */
  end(trouble?: Trouble): Promise<ExitStatus>;
}

function noticeTelling(options: NoticeOptions, terminal: Terminal): NoticeTelling {
  const { stdout } = terminal;
  const redactor = createRedactor(secretsOf(readHeaders(options, terminal.env))); // a refusal may repeat what it was sent
  const stderr = { write: (text: string) => terminal.stderr.write(redactor.text(text)) };
  const all: SentNotice[] = [];
  const warnings: Warning[] = [];
  const isJson = options.output === 'json';
  const theme = createTheme(
    colourLevel({ env: terminal.env, isTTY: stdout.isTTY === true, noColor: !options.color }),
  );
  const warn = (warning: Warning) => {
    warnings.push(warning);
    stderr.write(warningText(warning));
  };
  return {
    warn,
    async sent(notice) {
      all.push(notice);
      if (!isJson) await writeOut(stdout, redactor.text(`${dressLine(noticeLine(toldOf(notice)), theme)}\n`));
      for (const warning of warningsOf(notice)) warn(warning);
    },
    async end(trouble = troubleOf(all) ?? undefined) {
      const error = trouble && { error: errorReport(trouble) };
      const report = { notices: all.map(reportOf), warnings, ...error };
      if (isJson) await writeOut(stdout, `${redactJson(safeJson(report, 2), redactor)}\n`);
      if (trouble) stderr.write(troubleText(trouble));
      return trouble ? statusOfFailure(trouble.code) : 0;
    },
  };
}

/** What a command needs to send notices. */
interface NoticeDesk {
  readonly options: NoticeOptions;
  readonly terminal: Terminal;
  readonly telling: NoticeTelling;
  readonly client: HttpClient;
  readonly log: Log;
}

/**
 * A command that sends notices, from its preparation to the exit status. Whoever asked for an object gets one, however early it
 * failed; a signal ends it at once.
 */
function runNotices(
  options: NoticeOptions,
  terminal: Terminal,
  work: (desk: NoticeDesk) => Promise<void>,
): Promise<ExitStatus> {
  return stoppable(async onStop => {
    const client = createNodeClient();
    onStop(() => client.close());
    const telling = noticeTelling(options, terminal);
    try {
      await work({ options, terminal, telling, client, log: createLog(systemClock.now) });
    } catch (error) {
      if (error instanceof ProtocolCliError) return telling.end(error);
      throw error;
    }
    return telling.end();
  });
}

/** Every notice to every server, all at once and each once: one that fails keeps none of the others (RT-NOTIFY). */
async function sendNotices(
  desk: NoticeDesk,
  servers: readonly Server[],
  notices: readonly Notice[],
): Promise<void> {
  await Promise.all(servers.flatMap(server => notices.map(notice => sendNotice(desk, server, notice))));
}

async function sendNotice(
  { client, log, options, telling }: NoticeDesk,
  { base, credentials }: Server,
  notice: Notice,
): Promise<void> {
  const begun = systemClock.now();
  const answer = await notify({ client, log, credentials }, base, notice, { timeoutMs: options.timeout });
  await telling.sent({ base, notice, answer, ms: Math.round((systemClock.now() - begun) * 1_000) / 1_000 });
}

export interface CancelOptions extends NoticeOptions {
  readonly groupId: string;
  readonly id: string;
}

/** `cancel`: one notice, to the server meant or to every one there is. */
export function runCancel(
  word: string | undefined,
  options: CancelOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { groupId: thread_id, id: tool_call_id } = options;
  return runNotices(options, terminal, async desk => {
    const url = word === undefined ? null : urlOf(word);
    if (thread_id === '' || tool_call_id === '')
      throw new ProtocolCliError('usage', '--group-id and --id cannot be empty');
    const { servers, notes } = await serversAt(url, options, terminal);
    notes.forEach(desk.telling.warn);
    await sendNotices(desk, servers, [{ kind: 'cancel', message: { thread_id, tool_call_id } }]);
  });
}

export interface CloseThreadOptions extends NoticeOptions {
  readonly groupId?: readonly string[];
}

/** `close-thread`: one notice for each thread, to the server meant or to every one there is. */
export function runCloseThread(
  words: readonly string[],
  options: CloseThreadOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  return runNotices(options, terminal, async desk => {
    const { url, rest } = splitWords(words);
    if (url === null) refuseSwapped(rest);
    const notices = closing([...rest, ...(options.groupId ?? [])]);
    const { servers, notes } = await serversAt(url, options, terminal);
    notes.forEach(desk.telling.warn);
    await sendNotices(desk, servers, notices);
  });
}

/** A thread may be called anything; what looks like this is a server that was named too late. */
function refuseSwapped(threads: readonly string[]): void {
  const url = threads.find(word => /^(https?:\/\/|:\d)/i.test(word));
  if (url === undefined) return;
  const others = threads.filter(word => word !== url);
  throw new ProtocolCliError('usage', `unexpected URL: ${url}; expected a thread`, {
    hint: `The URL comes first: protocol-cli close-thread ${[url, ...others].join(' ')}. For a thread with that name use --group-id.`,
  });
}

function closing(threads: readonly string[]): Notice[] {
  if (threads.length === 0)
    throw new ProtocolCliError('usage', 'no thread given', {
      hint: 'Threads come after the URL: protocol-cli close-thread <url> <thread>; or give --group-id.',
    });
  if (threads.includes('')) throw new ProtocolCliError('usage', 'a thread name cannot be empty');
  return [...new Set(threads)].map(thread_id => ({ kind: 'close', message: { thread_id } }));
}

export interface MigrateOptions extends NoticeOptions {
  readonly force?: boolean;
}

/** `migrate`: discovers each toolset, and sends the notice where it says that there is state to move (TOOL-MIGRATE). */
export function runMigrate(
  words: readonly string[],
  options: MigrateOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  return runNotices(options, terminal, async desk => {
    const [destination = '', session = '', url] = [...words].reverse();
    if (words.length < 2 || words.length > 3)
      throw new ProtocolCliError('usage', `expected a session and a destination, got: ${words.join(' ')}`, {
        hint: 'protocol-cli migrate [url] <session> <destination>',
      });
    const base = url === undefined ? null : urlOf(url);
    const message = messageOf(session, destination);
    if (base !== null) {
      const { server, toolset } = await load(desk, {
        base,
        credentials: readCredentials(options, base, terminal.env),
      });
      if (!toolset.needsMigration) checkForced(toolset, options, desk);
      await sendNotices(desk, [server], [{ kind: 'migrate', message }]);
      return;
    }
    const { servers, notes } = await serversAt(null, options, terminal);
    notes.forEach(desk.telling.warn);
    const found = await Promise.allSettled(servers.map(each => load(desk, each)));
    const migrating = found.flatMap(each => (each.status === 'fulfilled' ? [each.value] : []));
    const wanted = migrating.filter(({ toolset }) => toolset.needsMigration || options.force);
    await sendNotices(
      desk,
      wanted.map(({ server }) => server),
      [{ kind: 'migrate', message }],
    );
    const failures = found.flatMap(each => (each.status === 'rejected' ? [each.reason as unknown] : []));
    refuseIncomplete(failures, wanted.length);
  });
}

/** @throws ProtocolCliError for servers that could not be asked, or where none has state to move. */
function refuseIncomplete(failures: readonly unknown[], sent: number): void {
  const [first] = failures;
  if (first !== undefined && !(first instanceof ProtocolCliError)) throw first;
  if (first) {
    const messages = failures.map(each => (each instanceof Error ? each.message : String(each)));
    throw new ProtocolCliError(first.code, 'some configured servers did not answer', {
      faults: messages,
    });
  }
  if (sent === 0)
    throw new ProtocolCliError('usage', 'no configured toolset says needsMigration (TOOL-MIGRATE)', {
      hint: 'Nothing was sent; --force sends it to every configured server.',
    });
}

async function load(desk: NoticeDesk, server: Server) {
  const { base, toolset, notes } = await discover({ ...desk, credentials: server.credentials }, server.base);
  for (const note of notes) desk.telling.warn({ id: 'TOOL-DISCOVER', message: note });
  return { server: { base, credentials: server.credentials }, toolset };
}

function messageOf(session: string, destination: string): Migrate {
  if (session === '') throw new ProtocolCliError('usage', 'the session id cannot be empty');
  const checked = validate(migrateSchema, { session_id: session, destination_url: destination });
  if (checked.ok) return checked.value;
  throw new ProtocolCliError('usage', `invalid destination: ${destination}`, {
    faults: checked.faults,
    hint: 'Write the full URL that the tool will use: https://other.example:3001.',
  });
}

/** @throws ProtocolCliError `usage`: what is not asked for, nobody promised to serve. */
function checkForced({ name }: Toolset, { force }: MigrateOptions, { telling }: NoticeDesk): void {
  const message = `the toolset ${visibleLine(name)} does not say needsMigration`;
  if (!force)
    throw new ProtocolCliError('usage', `${message}: it has no state to move (TOOL-MIGRATE)`, {
      hint: 'Nothing was sent; --force sends it anyway.',
    });
  telling.warn({ id: 'TOOL-MIGRATE', message: `${message}; sent because of --force` });
}
