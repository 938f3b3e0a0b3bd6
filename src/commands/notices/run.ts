import { createLog } from '../../events/log.js';
import { createNodeClient } from '../../http/node-client.js';
import type { Warning } from '../../protocol/requirements.js';
import { baseOf, migrateSchema, type Toolset } from '../../protocol/toolset.js';
import { validate } from '../../protocol/validate.js';
import type { Trouble } from '../../render/outputs/reporter.js';
import { errorReport, troubleText, warningText, wrapMessages } from '../../render/outputs/trouble.js';
import { createTheme, dressLine } from '../../render/terminal/theme.js';
import { noticeLine } from '../../render/toolset.js';
import { discover } from '../../runtime/discover.js';
import {
  isTaken,
  type Notice,
  type NoticeAnswer,
  noticeUrl,
  notify,
  type Wire,
} from '../../runtime/notices.js';
import { systemClock } from '../../system/clock.js';
import { writeOut } from '../../system/streams.js';
import { secretsOf } from '../../util/credentials.js';
import { ProtocolCliError } from '../../util/errors.js';
import { createRedactor, type Redactor, redactJson, safeJson } from '../../util/redact.js';
import { bytesText } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import { usage } from '../options.js';
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
interface NoticeOptions extends HeaderOptions {
  /** Milliseconds for the answer; 0 waits forever. */
  readonly timeout: number;
  readonly output: 'plain' | 'json';
  readonly color: boolean;
}

export interface CancelOptions extends NoticeOptions {
  readonly groupId: string;
  readonly id: string;
}

export interface CloseThreadOptions extends NoticeOptions {
  readonly groupId?: readonly string[];
}

export interface MigrateOptions extends NoticeOptions {
  readonly force?: boolean;
}

/** A server that takes notices, with the headers for it. */
type Server = Pick<Wire, 'credentials'> & { readonly base: string };

/** A notice to one server, and its answer. */
interface SentNotice {
  readonly notice: Notice;
  readonly url: string;
  readonly answer: NoticeAnswer;
  /** Null without an answer. */
  readonly status: number | null;
  /** The text of the answer, or why there was none. */
  readonly said: string;
  readonly ms: number;
}

/** Sends notices and prints each as soon as it is answered, or all of them as one object. */
class NoticeRun {
  readonly #sent: SentNotice[] = [];
  readonly #warnings: Warning[] = [];
  readonly client = createNodeClient();
  readonly #log = createLog(systemClock.now);
  /** The answer of a tool may repeat our credentials (threats, row 25). */
  readonly #redactor: Redactor;

  constructor(
    private readonly options: NoticeOptions,
    private readonly terminal: Terminal,
  ) {
    this.#redactor = createRedactor(secretsOf(readHeaders(options, terminal.env)));
  }

  warn(warning: Warning): void {
    const message = this.#clean(warning.message);
    this.#warnings.push({ ...warning, message });
    this.#complain(warningText({ ...warning, message }));
  }

  /**
   * The server at a URL, or all of `.infinity/rap.json` (RT-NOTIFY). Its commands are not running, so they cannot know the call.
   * @throws ProtocolCliError `usage`, `unreadable-file`.
   */
  async servers(url: string | null): Promise<readonly Server[]> {
    if (url !== null) return [this.#serverAt(url)];
    const config = await readRapConfig(this.terminal, 'Give its URL, such as http://127.0.0.1:3001.');
    requireServers(config);
    const { targets, warnings } = config;
    const urls = targets.flatMap(each => (each.kind === 'url' ? [each.url] : []));
    const servers = [...new Map(urls.map(each => [baseOf(each), this.#serverAt(each)])).values()];
    const origins = new Set(servers.map(({ credentials }) => credentials.origin));
    // Credentials are for one origin, and with several it is unknown which (threats, row 12).
    if (origins.size > 1 && Object.keys(readHeaders(this.options, this.terminal.env)).length > 0)
      throw usage(
        '.infinity/rap.json has several servers, but headers are for one',
        'Give the URL of that server.',
      );
    const notNotified = [...warnings, ...targets.flatMap(notNotifiedNote)];
    if (servers.length === 0)
      throw usage(
        'no configured server accepts notices',
        'Give the URL of the tool server.',
        notNotified.map(({ message }) => message),
      );
    for (const note of notNotified) this.warn(note);
    return servers;
  }

  /** Loads a toolset. @throws ProtocolCliError as {@link discover} does. */
  async load({ base: url, credentials }: Server) {
    const { base, toolset, notes } = await discover(this.#wire(credentials), url);
    for (const message of notes) this.warn({ id: 'TOOL-DISCOVER', message });
    return { server: { base, credentials }, toolset };
  }

  /** Sends each notice to each server, once and at the same time; a failure does not stop the others (RT-NOTIFY). */
  async send(servers: readonly Server[], notices: readonly Notice[]): Promise<void> {
    await Promise.all(servers.flatMap(server => notices.map(notice => this.#send(server, notice))));
  }

  async end(failure: Trouble | null = troubleOf(this.#sent)): Promise<ExitStatus> {
    const { terminal, options } = this;
    const notices = this.#sent.map(({ notice: { kind, message }, url, status, said, ms }) => {
      return { notice: kind, url, sent: message, status, ms, ...(said !== '' && { said }) };
    });
    const report = { notices, warnings: this.#warnings, ...(failure && { error: errorReport(failure) }) };
    if (options.output === 'json')
      await writeOut(terminal.stdout, `${redactJson(safeJson(report, 2), this.#redactor)}\n`);
    if (!failure) return 0;
    this.#complain(troubleText(failure));
    return statusOfFailure(failure.code);
  }

  async #send({ base, credentials }: Server, notice: Notice): Promise<void> {
    const { timeout: timeoutMs, output } = this.options;
    const url = noticeUrl(notice, base);
    const startedAt = systemClock.now();
    const answer = await notify(this.#wire(credentials), base, notice, { timeoutMs });
    const ms = Math.round((systemClock.now() - startedAt) * 1_000) / 1_000;
    const { status, said } =
      answer.kind === 'answered'
        ? { status: answer.status, said: answer.excerpt }
        : { status: null, said: answer.reason.replace(`${url}: `, '') };
    const sent = { notice, url, answer, status, said: this.#clean(said), ms };
    this.#sent.push(sent);
    if (output === 'plain') {
      const { stdout } = this.terminal;
      const theme = createTheme(colourOf(stdout, this.options, this.terminal));
      const line = dressLine(noticeLine({ ...sent, message: notice.message }), theme);
      await writeOut(stdout, this.#redactor.text(`${line}\n`));
    }
    const size = answer.kind === 'answered' ? answer.bodySize : 0;
    if (notice.kind !== 'close' || !isTaken(answer) || size === 0) return;
    const of = size === null ? '' : ` of ${bytesText(size)}`;
    this.warn({ id: 'TOOL-CLOSE', message: `the answer to /close_thread has a body${of}; it must be empty` });
  }

  #serverAt(url: string): Server {
    return { base: baseOf(url), credentials: readCredentials(this.options, url, this.terminal.env) };
  }

  #wire(credentials: Wire['credentials']): Wire {
    return { client: this.client, log: this.#log, credentials };
  }

  #clean(text: string): string {
    return this.#redactor.text(text);
  }

  #complain(text: string): void {
    const { stderr } = this.terminal;
    stderr.write(wrapMessages(this.#clean(text), stderr));
  }
}

function notNotifiedNote(target: ConfiguredTarget): Warning[] {
  const command = commandOf(target);
  if (command !== null)
    return [{ message: `not notified: ${visibleLine(command)} (this command is not running)` }];
  if (target.kind !== 'mcp') return [];
  return [{ message: `not notified: ${visibleLine(target.name)} (MCP servers do not take notices)` }];
}

/** Null if every notice was answered with 200. */
function troubleOf(all: readonly SentNotice[]): Trouble | null {
  const failed = all.filter(({ answer }) => !isTaken(answer));
  const [first] = failed;
  if (!first) return null;
  const code = failed.some(({ status }) => status !== null) ? 'bad-acknowledgement' : 'unreachable';
  const hint = hintFor(first);
  const faults = failed.map(({ url, status, said }) => {
    const reason = said === '' ? '' : `: ${said}`;
    return status === null
      ? `no answer from ${url}${reason}`
      : `${url} answered ${status} instead of 200${reason}`;
  });
  if (faults.length === 1) return { code, message: faults.join(), hint };
  return {
    code,
    message: `${failed.length} of ${all.length} notices were not answered with 200`,
    faults,
    hint,
  };
}

const HINTS = {
  cancel: 'A tool must answer 200 even if it does not know the call (TOOL-CANCEL).',
  close: 'A tool must answer 200 even if it does not know the thread (TOOL-CLOSE).',
  migrate: 'The state has not moved: a tool answers 200 when it has (TOOL-MIGRATE).',
} as const satisfies Record<Notice['kind'], string>;

function hintFor({ notice: { kind }, answer }: SentNotice): string | undefined {
  if (answer.kind === 'unanswered') return answer.hint;
  if (answer.status >= 300 && answer.status < 400) return 'Redirects are never followed; give the final URL.';
  const isWrongBase = answer.status === 404 && kind !== 'migrate';
  return HINTS[kind] + (isWrongBase ? ' Is this the base URL of the tool server?' : '');
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

/** Splits the URL from the words after it. @throws ProtocolCliError `usage`. */
function splitWords(words: readonly string[]): { url: string | null; rest: readonly string[] } {
  const { target, rest } = readTarget(words, {});
  return { url: target?.kind === 'url' ? target.url : null, rest };
}

function urlOf(word: string | undefined): string | null {
  if (word === undefined) return null;
  const { url } = splitWords([word]);
  if (url === null) throw usage(`invalid URL: ${word}`, 'Write http://host:port.');
  return url;
}

/** Runs `cancel`. */
export function runCancel(
  word: string | undefined,
  options: CancelOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { groupId: thread_id, id: tool_call_id } = options;
  return runNotices(options, terminal, async run => {
    const url = urlOf(word);
    if (thread_id === '' || tool_call_id === '') throw usage('--group-id and --id cannot be empty');
    await run.send(await run.servers(url), [{ kind: 'cancel', message: { thread_id, tool_call_id } }]);
  });
}

/** Runs `close-thread`: one notice for each thread. */
export function runCloseThread(
  words: readonly string[],
  options: CloseThreadOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  return runNotices(options, terminal, async run => {
    const { url, rest } = splitWords(words);
    const misplaced = url === null && rest.find(word => /^(https?:\/\/|:\d)/i.test(word));
    if (misplaced) {
      const line = ['protocol-cli close-thread', misplaced, ...rest.filter(word => word !== misplaced)].join(
        ' ',
      );
      throw usage(
        `unexpected URL: ${misplaced}; expected a thread`,
        `The URL comes first: ${line}. For a thread with that name use --group-id.`,
      );
    }
    const threads = [...new Set([...rest, ...(options.groupId ?? [])])];
    if (threads.length === 0)
      throw usage(
        'no thread given',
        'Threads come after the URL: protocol-cli close-thread <url> <thread>; or give --group-id.',
      );
    if (threads.includes('')) throw usage('a thread name cannot be empty');
    const notices = threads.map(thread_id => ({ kind: 'close', message: { thread_id } }) as const);
    await run.send(await run.servers(url), notices);
  });
}

/** Runs `migrate`: loads each toolset, and sends the notice if it declares needsMigration (TOOL-MIGRATE). */
export function runMigrate(
  words: readonly string[],
  options: MigrateOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  return runNotices(options, terminal, async run => {
    const [destination = '', session = '', word] = [...words].reverse();
    if (words.length < 2 || words.length > 3)
      throw usage(
        `expected a session and a destination, got: ${words.join(' ')}`,
        'protocol-cli migrate [url] <session> <destination>',
      );
    const url = urlOf(word);
    const notice = { kind: 'migrate', message: migrationOf(session, destination) } as const;
    const found = await Promise.allSettled((await run.servers(url)).map(each => run.load(each)));
    const loaded = found.flatMap(each => (each.status === 'fulfilled' ? [each.value] : []));
    const failures = found.flatMap(each => (each.status === 'rejected' ? [each.reason as unknown] : []));
    if (url !== null && failures.length > 0) throw failures[0];
    if (url !== null) for (const { toolset } of loaded) checkForced(toolset, options, run);
    const wanted = loaded.filter(({ toolset }) => toolset.needsMigration || options.force);
    const servers = wanted.map(({ server }) => server);
    await run.send(servers, [notice]);
    refuseIncomplete(failures, servers.length);
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

function migrationOf(session: string, destination: string) {
  if (session === '') throw usage('the session id cannot be empty');
  const checked = validate(migrateSchema, { session_id: session, destination_url: destination });
  if (checked.ok) return checked.value;
  const hint = 'Write the full URL that the tool will use: https://other.example:3001.';
  throw usage(`invalid destination: ${destination}`, hint, checked.faults);
}

/** @throws ProtocolCliError `usage` without --force. */
function checkForced({ name, needsMigration }: Toolset, { force }: MigrateOptions, run: NoticeRun): void {
  if (needsMigration) return;
  const message = `the toolset ${visibleLine(name)} does not declare needsMigration`;
  if (!force)
    throw usage(
      `${message}: it has no state to move (TOOL-MIGRATE)`,
      'Nothing was sent; --force sends it anyway.',
    );
  run.warn({ id: 'TOOL-MIGRATE', message: `${message}; sent because of --force` });
}
