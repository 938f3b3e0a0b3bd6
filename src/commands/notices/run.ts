import { NOTICES, type Notice } from '../../protocol/invocation.js';
import type { Warning } from '../../protocol/requirements.js';
import { baseOf } from '../../protocol/toolset.js';
import { validate } from '../../protocol/validate.js';
import { errorReport, type Trouble } from '../../render/outputs/trouble.js';
import { createTheme, styleLine } from '../../render/terminal/theme.js';
import { noticeLine } from '../../render/toolset.js';
import { type NoticeAnswer, Wire } from '../../runtime/wire.js';
import { writeOut } from '../../system/streams.js';
import { secretsOfHeaders } from '../../util/credentials.js';
import { ProtocolCliError } from '../../util/errors.js';
import { redactJson } from '../../util/redact-json.js';
import { safeJson } from '../../util/safe-json.js';
import { bytesText } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import { type HeaderOptions, readHeaders } from '../headers.js';
import { usageError } from '../options.js';
import { readRapConfig, requireServers } from '../rap-config.js';
import { asTrouble, type Run, withRun } from '../run.js';
import { type ConfiguredTarget, commandOf, readTarget, requireUrl } from '../target.js';
import { colourOf, type ExitStatus, type Terminal } from '../terminal.js';

/** The options that the commands share. */
interface NoticeOptions extends HeaderOptions {
  /** Time limit for the answer in ms; 0 waits forever. */
  readonly timeout: number;
  readonly output: 'plain' | 'json';
  readonly color: boolean;
}

type CancelOptions = NoticeOptions & { readonly groupId: string; readonly id: string };

type CloseThreadOptions = NoticeOptions & { readonly groupId?: readonly string[] };

type MigrateOptions = NoticeOptions & { readonly force?: boolean };

/** A notice that was sent to one server, and its answer. */
interface SentNotice extends NoticeAnswer {
  readonly notice: Notice;
  readonly url: string;
  readonly ms: number;
}

/** Sends notices and prints each when it is answered, or all of them as one object. */
class Notices {
  readonly #sent: SentNotice[] = [];
  readonly #client;

  constructor(
    readonly run: Run,
    private readonly options: NoticeOptions,
  ) {
    this.#client = run.openClient();
  }

  /**
   * Returns the server at a URL, or all servers of `.infinity/rap.json` (RT-NOTIFY). Commands are not running, so they cannot know the
   * call.
   * @throws ProtocolCliError `usage`, `unreadable-file`.
   */
  async servers(url: string | null): Promise<readonly string[]> {
    if (url !== null) return [url];
    const { terminal } = this.run;
    const config = await readRapConfig(terminal, 'Give its URL, such as http://127.0.0.1:3001.');
    requireServers(config);
    const urls = config.targets.flatMap(each => (each.kind === 'url' ? [each.url] : []));
    // Credentials belong to one origin; with several, it is unknown to which (threats, row 12).
    const origins = new Set(urls.map(each => new URL(each).origin));
    if (origins.size > 1 && Object.keys(readHeaders(this.options, terminal.env)).length > 0)
      throw usageError(
        '.infinity/rap.json has several servers, but headers are for one',
        'Give the URL of that server.',
      );
    const warnings = [...config.warnings, ...config.targets.flatMap(notNotified)];
    if (urls.length === 0)
      throw usageError(
        'no configured server accepts notices',
        'Give the URL of the tool server.',
        warnings.map(({ message }) => message),
      );
    for (const warning of warnings) this.run.warn(warning);
    return [...new Map(urls.map(each => [baseOf(each), each])).values()];
  }

  /** Loads a toolset. @throws ProtocolCliError as {@link Wire.discover} does. */
  async load(url: string) {
    const wire = this.#wire(url);
    const { toolset, notes } = await wire.discover(undefined, this.options.timeout);
    for (const message of notes) this.run.warn({ id: 'TOOL-DISCOVER', message });
    return { base: wire.base, toolset };
  }

  /** Sends each notice to each server once, concurrently; a failure does not stop the others (RT-NOTIFY). */
  async send(servers: readonly string[], notices: readonly Notice[]): Promise<void> {
    await Promise.all(
      servers.flatMap(server => notices.map(notice => this.#send(this.#wire(server), notice))),
    );
  }

  /** Reports a failure of the command or of the notices, and returns the exit status. */
  async end(failure: Trouble | null = troubleOf(this.#sent)): Promise<ExitStatus> {
    const { run } = this;
    const notices = this.#sent.map(({ notice: { kind, message }, url, status, reason, ms }) => {
      return { notice: kind, url, sent: message, status, ms, ...(reason !== '' && { said: reason }) };
    });
    const report = { notices, warnings: run.warnings, ...(failure && { error: errorReport(failure) }) };
    if (this.options.output === 'json')
      await writeOut(run.terminal.stdout, `${redactJson(safeJson(report, 2), run.redactor)}\n`);
    return failure ? run.fail(failure) : 0;
  }

  async #send(wire: Wire, notice: Notice): Promise<void> {
    const { run, options } = this;
    const { clock } = run;
    const url = wire.base + NOTICES[notice.kind].path;
    const startedAt = clock.now();
    const answer = await wire.notify(notice, { timeoutMs: options.timeout });
    const ms = Math.round((clock.now() - startedAt) * 1_000) / 1_000;
    const { status, bodySize } = answer;
    const sent = { ...answer, reason: run.clean(answer.reason.replace(`${url}: `, '')), notice, url, ms };
    this.#sent.push(sent);
    if (options.output === 'plain') {
      const { stdout } = run.terminal;
      const theme = createTheme(colourOf(stdout, options, run.terminal));
      const line = styleLine(noticeLine({ ...sent, said: sent.reason, message: notice.message }), theme);
      await writeOut(stdout, run.redactor.text(`${line}\n`));
    }
    if (notice.kind !== 'close' || status !== 200 || bodySize === 0) return;
    const of = bodySize === null ? '' : ` of ${bytesText(bodySize)}`;
    this.run.warn({
      id: 'TOOL-CLOSE',
      message: `the answer to /close_thread has a body${of}; it must be empty`,
    });
  }

  #wire(url: string): Wire {
    const { log, terminal } = this.run;
    return new Wire(log, this.#client, url, readHeaders(this.options, terminal.env));
  }
}

function notNotified(target: ConfiguredTarget): Warning[] {
  const command = commandOf(target);
  const name = command ?? (target.kind === 'mcp' ? target.name : null);
  const why = command === null ? 'MCP servers do not take notices' : 'this command is not running';
  return name === null ? [] : [{ message: `not notified: ${visibleLine(name)} (${why})` }];
}

/** Returns null if every notice was answered with 200. */
function troubleOf(all: readonly SentNotice[]): Trouble | null {
  const failed = all.filter(({ status }) => status !== 200);
  const [first] = failed;
  if (!first) return null;
  const code = failed.some(({ status }) => status !== null) ? 'bad-acknowledgement' : 'unreachable';
  const hint = hintFor(first);
  const faults = failed.map(({ url, status, reason }) => {
    const why = reason === '' ? '' : `: ${reason}`;
    return status === null ? `no answer from ${url}${why}` : `${url} answered ${status} instead of 200${why}`;
  });
  if (faults.length === 1) return { code, message: faults.join(), hint };
  const message = `${failed.length} of ${all.length} notices were not answered with 200`;
  return { code, message, faults, hint };
}

const HINTS = {
  cancel: 'A tool must answer 200 even if it does not know the call (TOOL-CANCEL).',
  close: 'A tool must answer 200 even if it does not know the thread (TOOL-CLOSE).',
  migrate: 'The state has not moved: a tool answers 200 when it has (TOOL-MIGRATE).',
} as const satisfies Record<Notice['kind'], string>;

function hintFor({ notice: { kind }, status, hint }: SentNotice): string | undefined {
  if (status === null) return hint;
  if (status >= 300 && status < 400) return 'Redirects are never followed; give the final URL.';
  const isWrongBase = status === 404 && kind !== 'migrate';
  return HINTS[kind] + (isWrongBase ? ' Is this the base URL of the tool server?' : '');
}

/** Runs a command that sends notices. `-o json` prints an object even if the command fails early; a signal ends it immediately. */
function sendNotices(
  options: NoticeOptions,
  terminal: Terminal,
  work: (notices: Notices) => Promise<void>,
): Promise<ExitStatus> {
  const secrets = secretsOfHeaders(readHeaders(options, terminal.env));
  return withRun({ terminal, secrets }, run => {
    const notices = new Notices(run, options);
    const ended = work(notices).then(
      () => notices.end(),
      error => notices.end(asTrouble(error)),
    );
    return run.interrupted.race(ended);
  });
}

export function runCancel(
  word: string | undefined,
  options: CancelOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { groupId: thread_id, id: tool_call_id } = options;
  return sendNotices(options, terminal, async notices => {
    const url = word === undefined ? null : requireUrl(word);
    if (thread_id === '' || tool_call_id === '') throw usageError('--group-id and --id cannot be empty');
    const notice = { kind: 'cancel', message: { thread_id, tool_call_id } } as const;
    await notices.send(await notices.servers(url), [notice]);
  });
}

/** Runs `close-thread`: sends one notice for each thread. */
export function runCloseThread(
  words: readonly string[],
  options: CloseThreadOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  return sendNotices(options, terminal, async notices => {
    const { target, rest } = readTarget(words, {});
    const misplaced = target ? undefined : rest.find(word => /^(https?:\/\/|:\d)/i.test(word));
    if (misplaced !== undefined) {
      const others = rest.filter(word => word !== misplaced).join(' ');
      throw usageError(
        `unexpected URL: ${misplaced}; expected a thread`,
        `The URL comes first: protocol-cli close-thread ${misplaced} ${others}. For a thread with that name use --group-id.`,
      );
    }
    const threads = [...new Set([...rest, ...(options.groupId ?? [])])];
    if (threads.length === 0)
      throw usageError(
        'no thread given',
        'Threads come after the URL: protocol-cli close-thread <url> <thread>; or give --group-id.',
      );
    if (threads.includes('')) throw usageError('a thread name cannot be empty');
    const servers = await notices.servers(target?.kind === 'url' ? target.url : null);
    await notices.send(
      servers,
      threads.map(thread_id => ({ kind: 'close', message: { thread_id } })),
    );
  });
}

/** Runs `migrate`: loads each toolset, and sends the notice if it declares needsMigration (TOOL-MIGRATE). */
export function runMigrate(
  words: readonly string[],
  options: MigrateOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  return sendNotices(options, terminal, async notices => {
    const [destination = '', session = '', word] = [...words].reverse();
    if (words.length < 2 || words.length > 3)
      throw usageError(
        `expected a session and a destination, got: ${words.join(' ')}`,
        'protocol-cli migrate [url] <session> <destination>',
      );
    const url = word === undefined ? null : requireUrl(word);
    const notice = { kind: 'migrate', message: migrationOf(session, destination) } as const;
    if (url !== null) return notices.send([await migratingBase(url, options, notices)], [notice]);
    const found = await Promise.allSettled((await notices.servers(null)).map(each => notices.load(each)));
    const failures = found.flatMap(each => (each.status === 'rejected' ? [asTrouble(each.reason)] : []));
    const bases = found.flatMap(each =>
      each.status === 'fulfilled' && (each.value.toolset.needsMigration || options.force)
        ? [each.value.base]
        : [],
    );
    await notices.send(bases, [notice]);
    const [first] = failures;
    if (first) {
      const faults = failures.map(({ message }) => message);
      throw new ProtocolCliError(first.code, 'some configured servers did not answer', { faults });
    }
    if (bases.length === 0)
      throw usageError(
        'no configured toolset declares needsMigration (TOOL-MIGRATE)',
        'Nothing was sent; --force sends it to every configured server.',
      );
  });
}

function migrationOf(session: string, destination: string) {
  if (session === '') throw usageError('the session id cannot be empty');
  const checked = validate(NOTICES.migrate.body, { session_id: session, destination_url: destination });
  if (checked.ok) return checked.value;
  const hint = 'Write the full URL that the tool will use: https://other.example:3001.';
  throw usageError(`invalid destination: ${destination}`, hint, checked.faults);
}

/** Returns the base URL of a server. @throws ProtocolCliError `usage` for a toolset without needsMigration, without --force. */
async function migratingBase(url: string, { force }: MigrateOptions, notices: Notices): Promise<string> {
  const { base, toolset } = await notices.load(url);
  if (toolset.needsMigration) return base;
  const message = `the toolset ${visibleLine(toolset.name)} does not declare needsMigration`;
  if (!force)
    throw usageError(
      `${message}: it has no state to move (TOOL-MIGRATE)`,
      'Nothing was sent; --force sends it anyway.',
    );
  notices.run.warn({ id: 'TOOL-MIGRATE', message: `${message}; sent because of --force` });
  return base;
}
