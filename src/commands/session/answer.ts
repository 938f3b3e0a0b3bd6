import { answerUntilSettled, type SessionEnd } from '../../agent-session/client/answer-session.js';
import { type Answerer, answeredCall, unknownTool } from '../../agent-session/client/answerer.js';
import { onlySession } from '../../agent-session/client/only-session.js';
import type { PendingCall } from '../../agent-session/client/pending-calls.js';
import { apiUrl, sessionUrl } from '../../agent-session/client/session-url.js';
import type { Answer } from '../../dialects/dialect.js';
import { History } from '../../events/history.js';
import { Sessions } from '../../events/session-calls.js';
import type { ChoiceQuestion, ReplyContent } from '../../mock/conversation.js';
import type { LocalTool } from '../../mock/local-tool.js';
import { fixtureFiles, loadHandlers } from '../../mock/sources.js';
import type { Warning } from '../../protocol/requirements.js';
import { jsonReporter, Page } from '../../render/outputs/reporter.js';
import type { KnownSession, SessionReporter } from '../../render/outputs/session.js';
import type { Trouble } from '../../render/outputs/trouble.js';
import { backgroundOf } from '../../render/terminal/background.js';
import { verbosePrinter } from '../../render/wire.js';
import { type Clock, systemClock } from '../../system/clock.js';
import { keepProcessAlive } from '../../system/process.js';
import { secretsOfHeaders } from '../../util/credentials.js';
import { ProtocolCliError } from '../../util/errors.js';
import { formatDuration, truncate } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import { Consent, type Denial } from '../consent.js';
import { fromEnvironment, readHeaders } from '../headers.js';
import { Chooser, selectedIndex } from '../invoke/questions.js';
import { loadFixtures } from '../mock-tool/fixtures.js';
import { type ANSWER_OUTPUTS, requireScreen, usageError } from '../options.js';
import { asTrouble, type Run, withErrorReport, withRun } from '../run.js';
import { type ListenerFlags, listenerOf, listenerWarnings, requireUrl } from '../target.js';
import { canDraw, colourOf, type ExitStatus, Prompts, statusOfFailure, type Terminal } from '../terminal.js';
import type { AnswererOptions, CallFlags, DenialOf, ToolSource } from './rap-tool.js';

type AnswerOutput = (typeof ANSWER_OUTPUTS)[number];

interface AnswerFlags extends CallFlags, ListenerFlags {
  readonly key?: string;
  /** Milliseconds; 0 waits forever. */
  readonly wait: number;
  readonly tool?: string;
  readonly fixtures?: readonly string[];
  readonly handlers?: string;
  /** Path of a file. */
  readonly policy?: string;
  readonly yes?: true;
  readonly choose?: readonly string[];
  readonly toolHeader?: readonly string[];
  readonly toolBearer?: string;
  readonly supports: ReadonlySet<string>;
  readonly output?: AnswerOutput;
  readonly save?: string;
  readonly quiet?: true;
  readonly verbose?: true;
  readonly color: boolean;
}

/** Fixtures and handlers that answer the calls. */
interface LocalSource {
  readonly kind: 'local';
  readonly fixtures: readonly string[];
  readonly handlers: string | null;
}

type Source = ToolSource | LocalSource;

/** The session to answer, and how. */
type Session = Readonly<{ id: string; url: string; key: string; source: Source; flags: AnswerFlags }>;

export function runSessionAnswer(
  [given, id]: readonly [base: string, id: string | undefined],
  flags: AnswerFlags,
  terminal: Terminal,
  clock: Clock = systemClock,
): Promise<ExitStatus> {
  return withErrorReport(flags.output === 'json', terminal, async () => {
    requireScreen(flags.output, terminal);
    const base = requireUrl(given, 'URL of the platform');
    if (id === undefined) apiUrl(base);
    else sessionUrl(base, id); // errors of usage come before anything starts
    const source = sourceOf(flags, terminal);
    const key = keyFor(flags, terminal);
    const secrets = [key, ...(source.kind === 'tool' ? secretsOfHeaders(source.headers) : [])];
    return withRun({ terminal, clock, secrets, observer: 'client' }, async run => {
      const known = id ?? (await onlySession(run.openClient(), base, key, run.signal));
      return answerSession({ id: known, url: sessionUrl(base, known), key, source, flags }, run);
    });
  });
}

const ANSWERERS = 'Give --tool <url of a RAP tool>, or --fixtures <file>, or --handlers <module>.';

function sourceOf(flags: AnswerFlags, terminal: Terminal): Source {
  const { tool, fixtures = [], handlers = null } = flags;
  const isLocal = fixtures.length > 0 || handlers !== null;
  if (tool !== undefined && isLocal)
    throw usageError('--tool and --fixtures or --handlers exclude each other', ANSWERERS);
  if (tool !== undefined) return toolSource(tool, flags, terminal);
  if (!isLocal) throw usageError('choose one of --tool, --fixtures, --handlers', ANSWERERS);
  const ofTools = {
    '--tool-header': flags.toolHeader,
    '--tool-bearer': flags.toolBearer,
    '--parse-json': flags.parseJson,
    '--lenient-ack': flags.lenientAck,
    '--callback-url': flags.callbackUrl,
  };
  const [unusable] = Object.entries(ofTools).find(([, value]) => value !== undefined) ?? [];
  if (unusable !== undefined) throw usageError(`${unusable} is for --tool`);
  return { kind: 'local', fixtures, handlers };
}

function toolSource(tool: string, flags: AnswerFlags, { env }: Terminal): ToolSource {
  const { toolHeader: header, toolBearer: bearer } = flags;
  const given = { ...(header && { header }), ...(bearer !== undefined && { bearer }) };
  return {
    kind: 'tool',
    url: requireUrl(tool, 'URL of the tool'),
    headers: readHeaders(given, env, { header: '--tool-header', bearer: '--tool-bearer' }),
    listener: listenerOf(flags),
  };
}

/** Prefers the environment, because other users of the machine can see a command line. */
function keyFor({ key }: AnswerFlags, { env }: Terminal): string {
  const given = key === undefined ? env['API_KEY'] || env['HAI_API_KEY'] : fromEnvironment(key, env, '--key');
  if (given) return given;
  throw usageError('no API key', 'Set API_KEY or HAI_API_KEY in the environment, or give --key.');
}

/** Answers until the session settles, then reports how it ended. */
async function answerSession(session: Session, run: Run): Promise<ExitStatus> {
  const { id, url, flags, source } = session;
  const { log, redactor, stderr, terminal } = run;
  const { output = canDraw(terminal) ? 'ui' : 'plain' } = flags;
  const known = { history: new History(true, redactor.text), sessions: new Sessions() };
  log.subscribe(event => known.history.apply(event));
  log.subscribe(event => known.sessions.apply(event));
  await run.save(flags.save);
  const { stdout } = terminal;
  const level = colourOf(stdout, flags, terminal);
  const background = backgroundOf(terminal.env);
  const quiet = flags.quiet === true;
  const page = new Page(known.history, { stdout, stderr, quiet, redactor, level, background });
  const reporter = await REPORTERS[output](known, page, session, run);
  if (reporter.event) log.subscribe(reporter.event);
  if (flags.verbose) log.subscribe(verbosePrinter(redactor, run.verboseWriter(output === 'ui')));
  const notes = source.kind === 'tool' ? listenerWarnings(source.listener) : [];
  const failed = await serve(session, run, known.history, reporter, notes)
    .catch(asTrouble)
    .finally(async () => {
      await run.stop();
      await reporter.close?.();
    });
  const { trouble, warnings } = await run.end(failed);
  await reporter.end({ session: { id, url }, known, notes: [...notes, ...warnings], trouble });
  return trouble ? statusOfFailure(trouble.code) : 0;
}

/** Returns the problem of the session, if any. @param notes receives the answerer's warnings */
async function serve(
  { id, url, key, flags, source }: Session,
  run: Run,
  history: History,
  reporter: SessionReporter,
  notes: Warning[],
): Promise<Trouble | null> {
  const { log, clock, signal } = run;
  const { wait, choose } = flags;
  const release = keepProcessAlive(); // a call without a limit may have no timer that keeps the process alive
  run.onStop(async () => release());
  const client = run.openClient();
  const consent = await Consent.read(flags, run.terminal);
  const prompts = new Prompts(run, reporter);
  const chooser = new Chooser(prompts, choose, reporter.choose);
  const denial = denialsOf(consent, prompts);
  const options = { run, session: id, history, flags, chooser, denial };
  const answerer = await (source.kind === 'local'
    ? openLocalTool(source, options)
    : (await import('./rap-tool.js')).openRapTool(source, options));
  notes.push(...answerer.notes);
  return troubleOf(
    await answerUntilSettled({ client, log, clock, url, thread: id, key, signal }, answerer, wait),
    wait,
  );
}

/**
 * Decides by the policy, then by asking the user, as `invoke` does. Without a terminal, calls that need consent are denied.
 */
function denialsOf(consent: Consent, prompts: Prompts): DenialOf {
  return (tool, args) =>
    consent.denialOf(tool, args, prompts).catch((error: unknown): Denial => {
      if (!(error instanceof ProtocolCliError) || error.code !== 'decision-needed') throw error;
      return { by: 'policy', reason: 'it is marked destructive, and only a terminal can ask' };
    });
}

/** An idle session waits for a message, so it ended well. */
const SUCCESSFUL: ReadonlySet<string> = new Set(['completed', 'idle']);

/** Maximum length of a platform's error, in characters. */
const MAX_ERROR_LENGTH = 500;

/** Returns why a session did not end well; null if it did. */
function troubleOf({ id, status, isSettled, error }: SessionEnd, waitMs: number): Trouble | null {
  const session = `the session ${visibleLine(id)}`;
  if (!isSettled)
    return {
      code: 'timeout',
      message: `${session} did not change for ${formatDuration(waitMs)} (status: ${visibleLine(status)})`,
      hint: '--wait gives it more time; without --wait the time is not limited.',
    };
  if (SUCCESSFUL.has(status)) return null;
  const reason = error === null ? '' : `: ${truncate(visibleLine(error), MAX_ERROR_LENGTH)}`;
  return { code: 'session-failed', message: `${session} ended as ${visibleLine(status)}${reason}` };
}

/**
 * Answers from fixtures and handlers, in this process.
 * @throws ProtocolCliError `unreadable-file`, `invalid-fixtures`, `invalid-toolset`.
 */
async function openLocalTool(
  { fixtures: files, handlers: module }: Extract<Source, { kind: 'local' }>,
  options: AnswererOptions,
): Promise<Answerer & { readonly notes: readonly Warning[] }> {
  const { run, flags, chooser } = options;
  const { terminal, clock, log } = run;
  const { seed } = flags;
  if (module !== null) terminal.announceUserCode();
  const handlers = module === null ? {} : await loadHandlers(module, terminal.cwd);
  const loaded = files.length === 0 ? null : await loadFixtures(await fixtureFiles(files));
  const { startLocalTool } = await import('../../mock/local-tool.js');
  const tool = await startLocalTool({
    ...(loaded && { fixtures: loaded.fixtures }),
    ...handlers,
    clock,
    log,
    ...(seed !== undefined && { seed }),
    ...(chooser.by === 'flag' && { choose: picking(chooser) }),
  });
  run.onStop(() => tool.close({ drainMs: 0 }));
  return {
    notes: (loaded?.warnings ?? []).map(message => ({ message })),
    answer: (call, { signal }) => answerLocally(tool, call, options, signal),
  };
}

/** Answers the questions of a call with `--choose`. */
function picking(chooser: Chooser): (question: ChoiceQuestion) => Promise<number | null> {
  const asked = new Map<string, number>();
  return async question => {
    const nth = asked.get(question.id) ?? 0;
    asked.set(question.id, nth + 1);
    return selectedIndex(chooser.flag(nth) ?? '', question);
  };
}

async function answerLocally(
  tool: LocalTool,
  call: PendingCall,
  { run, denial, session, flags }: AnswererOptions,
  signal: AbortSignal,
): Promise<Answer> {
  const { tools } = tool.mock.toolset;
  const called = tools.find(({ name }) => name === call.tool);
  if (!called) return unknownTool(call, tools);
  const denied = await denial(called, call.args);
  const about = { calls: [call.key], thread: session };
  if (denied) {
    run.log.emit({ kind: 'denied', tool: call.tool, ...denied, ...about });
    const { reason } = denied;
    return { call: answeredCall(call), outcome: { type: 'denied', tool: call.tool, reason, basis: 'ours' } };
  }
  const { timeout: ms } = flags;
  const reply = await replyWithin(ms, tool, call, { run, session, signal });
  if (reply) return (await import('../../mock/mcp-answer.js')).answerOfLocal(answeredCall(call), reply);
  run.log.emit({ kind: 'expired', what: 'timeout', afterMs: ms, ...about });
  return { call: answeredCall(call), outcome: { type: 'timeout', durationMs: ms, basis: 'ours' } };
}

/** Returns null on timeout; the call is then aborted. A fixture without a reply always times out. @param ms 0 for no limit */
async function replyWithin(
  ms: number,
  tool: LocalTool,
  { key, tool: operation, args }: PendingCall,
  { run, session, signal }: Pick<AnswererOptions, 'run' | 'session'> & { readonly signal: AbortSignal },
): Promise<ReplyContent | null> {
  const over = new AbortController();
  const late = new Promise<null>(resolve => {
    over.signal.addEventListener('abort', () => resolve(null));
  });
  const stop = ms > 0 ? run.clock.after(ms, () => over.abort()) : () => {};
  const within = AbortSignal.any([signal, over.signal]);
  const reply = tool.call({ operation, arguments: args, id: key, key, groupId: session, signal: within });
  const spoken = reply.then(each => (each.kind === 'silence' ? new Promise<never>(() => {}) : each));
  return Promise.race([late, spoken]).finally(stop);
}

type Maker = (known: KnownSession, page: Page, session: Session, run: Run) => Promise<SessionReporter>;

/** Reporters, each loaded on demand. */
const REPORTERS = {
  plain: async (known, page) => (await import('../../render/outputs/session.js')).plainSession(known, page),
  json: async (_, page) =>
    jsonReporter(page, (await import('../../render/outputs/session.js')).sessionReport),
  ndjson: async (_, page, __, { about }) => {
    const { ndjsonReporter } = await import('../../render/outputs/text.js');
    return ndjsonReporter(page, about);
  },
  ui: async (known, page, { id, url, source, flags }, { clock, terminal, redactor }) => {
    const { liveSession } = await import('../../tui/session/answer.js');
    const { stdin, stdout, interrupt } = terminal;
    const screen = { page, stdin, stdout, interrupt, clock, redactor };
    const { supports, validate } = flags;
    const shown = {
      session: { id, url },
      hasTool: source.kind === 'tool',
      isUnvalidated: !validate,
      supports,
    };
    return liveSession({ ...screen, ...shown, known });
  },
} as const satisfies Record<AnswerOutput, Maker>;
