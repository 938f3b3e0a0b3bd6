import { createLog } from '../../events/log.js';
import { createNodeClient } from '../../http/node-client.js';
import type { Warning } from '../../protocol/requirements.js';
import { baseOf, type Migrate, migrateSchema, type Toolset } from '../../protocol/toolset.js';
import { validate } from '../../protocol/validate.js';
import type { Trouble } from '../../render/outputs/reporter.js';
import { errorReport, troubleText, warningText } from '../../render/outputs/trouble.js';
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
import { secretsOf } from '../../util/credentials.js';
import { ProtocolCliError } from '../../util/errors.js';
import { bytesText } from '../../util/json-diagnosis.js';
import { createRedactor, type Redactor } from '../../util/redact.js';
import { redactJson, safeJson } from '../../util/redact-json.js';
import { visibleLine } from '../../util/visible.js';
import { colourOf } from '../output.js';
import { readRapConfig, requireServers } from '../rap-config.js';
import {
  type ConfiguredTarget,
  commandOf,
  type HeaderOptions,
  readCredentials,
  readHeaders,
  readTarget,
} from '../target.js';
import { type ExitStatus, statusOfFailure, stoppable, type Terminal } from '../terminal.js';

/** The options that the commands share. */
export interface NoticeOptions extends HeaderOptions {
  /** Milliseconds for the answer; 0 waits forever. */
  readonly timeout: number;
  readonly output: 'plain' | 'json';
  readonly color: boolean;
}

/** A server that takes notices, and the headers for it. */
interface Server {
  readonly base: string;
  readonly credentials: Credentials;
}

interface Servers {
  readonly servers: readonly Server[];
  readonly notes: readonly Warning[];
}

/** @throws ProtocolCliError `usage`. */
export function urlOf(word: string): string {
  const { url } = splitWords([word]);
  if (url !== null) return url;
  throw new ProtocolCliError('usage', `invalid URL: ${word}`, {
    hint: 'Write http://host:port.',
  });
}

/** Splits the URL from the words after it. @throws ProtocolCliError `usage`. */
export function splitWords(words: readonly string[]): {
  readonly url: string | null;
  readonly rest: readonly string[];
} {
  const { target, rest } = readTarget(words, {});
  return { url: target?.kind === 'url' ? target.url : null, rest };
}

/**
 * The server at a URL, or all of `.infinity/rap.json` (RT-NOTIFY). Its commands are not running, so they cannot know the call.
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

/** Credentials are for one origin, and with several servers that origin is unknown (threats, row 12). */
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
  return [{ message: `not notified: ${visibleLine(target.name)} (MCP servers do not take notices)` }];
}

/** A notice that went to one server, and its answer. */
export interface SentNotice {
  readonly base: string;
  readonly notice: Notice;
  readonly answer: NoticeAnswer;
  readonly ms: number;
}

/** `said` is the text of the answer, or why there was none. */
function describeNotice({ base, notice, answer, ms }: SentNotice): ToldNotice {
  const url = noticeUrl(notice, base);
  const { message } = notice;
  if (answer.kind === 'answered') return { url, message, status: answer.status, said: answer.excerpt, ms };
  const { reason } = answer;
  const said = reason.startsWith(`${url}: `) ? reason.slice(url.length + 2) : reason;
  return { url, message, status: null, said, ms };
}

/** The notice in `-o json`. */
export function reportOf(sent: SentNotice): object {
  const { url, message, status, said, ms } = describeNotice(sent);
  return { notice: sent.notice.kind, url, sent: message, status, ms, ...(said !== '' && { said }) };
}

/** TOOL-CLOSE: the body of the answer must be empty. */
export function warningsOf({ notice, answer }: SentNotice): Warning[] {
  if (notice.kind !== 'close' || answer.kind !== 'answered' || !isTaken(answer)) return [];
  if (answer.bodySize === 0) return [];
  const size = answer.bodySize === null ? '' : ` of ${bytesText(answer.bodySize)}`;
  const message = `the answer to /close_thread has a body${size}; it must be empty`;
  return [{ id: 'TOOL-CLOSE', message }];
}

/** Null if every notice was answered with 200. */
export function troubleOf(all: readonly SentNotice[]): Trouble | null {
  const failed = all.filter(({ answer }) => !isTaken(answer));
  const [first] = failed;
  if (!first) return null;
  const isAnswered = failed.some(({ answer }) => answer.kind === 'answered');
  const code = isAnswered ? 'bad-acknowledgement' : 'unreachable';
  const hint = hintFor(first);
  if (failed.length === 1) return { code, message: failureOf(first), hint };
  const message = `${failed.length} of ${all.length} notices were not answered with 200`;
  return { code, message, faults: failed.map(failureOf), hint };
}

function failureOf(sent: SentNotice): string {
  const { url, status, said } = describeNotice(sent);
  const reason = said === '' ? '' : `: ${said}`;
  return status === null
    ? `no answer from ${url}${reason}`
    : `${url} answered ${status} instead of 200${reason}`;
}

const HINTS: Readonly<Record<Notice['kind'], string>> = {
  cancel: 'A tool must answer 200 even if it does not know the call (TOOL-CANCEL).',
  close: 'A tool must answer 200 even if it does not know the thread (TOOL-CLOSE).',
  migrate: 'The state has not moved: a tool answers 200 when it has (TOOL-MIGRATE).',
};

function hintFor({ notice, answer }: SentNotice): string | undefined {
  if (answer.kind === 'unanswered') return answer.hint;
  if (answer.status >= 300 && answer.status < 400) return 'Redirects are never followed; give the final URL.';
  const isBase =
    answer.status === 404 && notice.kind !== 'migrate' ? ' Is this the base URL of the tool server?' : '';
  return HINTS[notice.kind] + isBase;
}

/** Sends notices and prints each as soon as it is answered, or all of them as one object. */
class NoticeRun {
  readonly client = createNodeClient();
  readonly log = createLog(systemClock.now);
  readonly #sent: SentNotice[] = [];
  readonly #warnings: Warning[] = [];
  readonly #redactor: Redactor;

  constructor(
    private readonly options: NoticeOptions,
    private readonly terminal: Terminal,
  ) {
    this.#redactor = createRedactor(secretsOf(readHeaders(options, terminal.env))); // an error may repeat what was sent
  }

  warn(warning: Warning): void {
    this.#warnings.push(warning);
    this.#complain(warningText(warning));
  }

  /** The server at a URL or the configured ones, with warnings about those that cannot take notices. */
  async servers(url: string | null): Promise<readonly Server[]> {
    const { servers, notes } = await serversAt(url, this.options, this.terminal);
    for (const note of notes) this.warn(note);
    return servers;
  }

  /** Sends each notice to each server, once and at the same time; a failure does not stop the others (RT-NOTIFY). */
  async send(servers: readonly Server[], notices: readonly Notice[]): Promise<void> {
    await Promise.all(servers.flatMap(server => notices.map(notice => this.#send(server, notice))));
  }

  async #send({ base, credentials }: Server, notice: Notice): Promise<void> {
    const { client, log } = this;
    const { timeout: timeoutMs, output, color } = this.options;
    const { stdout } = this.terminal;
    const startedAt = systemClock.now();
    const answer = await notify({ client, log, credentials }, base, notice, { timeoutMs });
    const sent = { base, notice, answer, ms: Math.round((systemClock.now() - startedAt) * 1_000) / 1_000 };
    this.#sent.push(sent);
    if (output === 'plain') {
      const theme = createTheme(colourOf(stdout, { color }, this.terminal));
      await writeOut(stdout, this.#redactor.text(`${dressLine(noticeLine(describeNotice(sent)), theme)}\n`));
    }
    for (const warning of warningsOf(sent)) this.warn(warning);
  }

  async end(trouble: Trouble | null = troubleOf(this.#sent)): Promise<ExitStatus> {
    const error = trouble && { error: errorReport(trouble) };
    const report = { notices: this.#sent.map(reportOf), warnings: this.#warnings, ...error };
    if (this.options.output === 'json')
      await writeOut(this.terminal.stdout, `${redactJson(safeJson(report, 2), this.#redactor)}\n`);
    if (!trouble) return 0;
    this.#complain(troubleText(trouble));
    return statusOfFailure(trouble.code);
  }

  #complain(text: string): void {
    this.terminal.stderr.write(this.#redactor.text(text));
  }
}

/** Runs a command that sends notices. `-o json` prints an object even if the command fails early; a signal ends it at once. */
function runNotices(
  options: NoticeOptions,
  terminal: Terminal,
  work: (run: NoticeRun) => Promise<void>,
): Promise<ExitStatus> {
  return stoppable(async onStop => {
    const run = new NoticeRun(options, terminal);
    onStop(() => run.client.close());
    try {
      await work(run);
    } catch (error) {
      if (error instanceof ProtocolCliError) return run.end(error);
      throw error;
    }
    return run.end();
  });
}

export interface CancelOptions extends NoticeOptions {
  readonly groupId: string;
  readonly id: string;
}

/** Runs `cancel`. */
export function runCancel(
  word: string | undefined,
  options: CancelOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { groupId: thread_id, id: tool_call_id } = options;
  return runNotices(options, terminal, async run => {
    const url = word === undefined ? null : urlOf(word);
    if (thread_id === '' || tool_call_id === '') throw usage('--group-id and --id cannot be empty');
    await run.send(await run.servers(url), [{ kind: 'cancel', message: { thread_id, tool_call_id } }]);
  });
}

export interface CloseThreadOptions extends NoticeOptions {
  readonly groupId?: readonly string[];
}

/** Runs `close-thread`: one notice for each thread. */
export function runCloseThread(
  words: readonly string[],
  options: CloseThreadOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  return runNotices(options, terminal, async run => {
    const { url, rest } = splitWords(words);
    if (url === null) refuseSwapped(rest);
    const notices = closing([...rest, ...(options.groupId ?? [])]);
    await run.send(await run.servers(url), notices);
  });
}

/** A word that looks like a URL is a server in the wrong place. */
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

/** Runs `migrate`: loads each toolset, and sends the notice if it declares needsMigration (TOOL-MIGRATE). */
export function runMigrate(
  words: readonly string[],
  options: MigrateOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  return runNotices(options, terminal, async run => {
    const [destination = '', session = '', url] = [...words].reverse();
    if (words.length < 2 || words.length > 3)
      throw usage(
        `expected a session and a destination, got: ${words.join(' ')}`,
        'protocol-cli migrate [url] <session> <destination>',
      );
    const base = url === undefined ? null : urlOf(url);
    const notice: Notice = { kind: 'migrate', message: messageOf(session, destination) };
    if (base !== null) {
      const { server, toolset } = await load(run, {
        base,
        credentials: readCredentials(options, base, terminal.env),
      });
      if (!toolset.needsMigration) checkForced(toolset, options, run);
      return run.send([server], [notice]);
    }
    const found = await Promise.allSettled((await run.servers(null)).map(each => load(run, each)));
    const loaded = found.flatMap(each => (each.status === 'fulfilled' ? [each.value] : []));
    const wanted = loaded.filter(({ toolset }) => toolset.needsMigration || options.force);
    await run.send(
      wanted.map(({ server }) => server),
      [notice],
    );
    const failures = found.flatMap(each => (each.status === 'rejected' ? [each.reason as unknown] : []));
    refuseIncomplete(failures, wanted.length);
  });
}

/** @throws ProtocolCliError if a server did not answer, or none declares needsMigration. */
function refuseIncomplete(failures: readonly unknown[], sent: number): void {
  const [first] = failures;
  if (first !== undefined && !(first instanceof ProtocolCliError)) throw first;
  if (first) {
    const faults = failures.map(each => (each instanceof Error ? each.message : String(each)));
    throw new ProtocolCliError(first.code, 'some configured servers did not answer', { faults });
  }
  if (sent === 0)
    throw usage(
      'no configured toolset declares needsMigration (TOOL-MIGRATE)',
      'Nothing was sent; --force sends it to every configured server.',
    );
}

async function load(run: NoticeRun, { base: url, credentials }: Server) {
  const { client, log } = run;
  const { base, toolset, notes } = await discover({ client, log, credentials }, url);
  for (const note of notes) run.warn({ id: 'TOOL-DISCOVER', message: note });
  return { server: { base, credentials }, toolset };
}

function messageOf(session: string, destination: string): Migrate {
  if (session === '') throw usage('the session id cannot be empty');
  const checked = validate(migrateSchema, { session_id: session, destination_url: destination });
  if (checked.ok) return checked.value;
  throw new ProtocolCliError('usage', `invalid destination: ${destination}`, {
    faults: checked.faults,
    hint: 'Write the full URL that the tool will use: https://other.example:3001.',
  });
}

/** @throws ProtocolCliError `usage` without --force. */
function checkForced({ name }: Toolset, { force }: MigrateOptions, run: NoticeRun): void {
  const message = `the toolset ${visibleLine(name)} does not declare needsMigration`;
  if (!force)
    throw usage(
      `${message}: it has no state to move (TOOL-MIGRATE)`,
      'Nothing was sent; --force sends it anyway.',
    );
  run.warn({ id: 'TOOL-MIGRATE', message: `${message}; sent because of --force` });
}

function usage(message: string, hint?: string): ProtocolCliError {
  return new ProtocolCliError('usage', message, hint === undefined ? {} : { hint });
}
