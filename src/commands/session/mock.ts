import type { Event } from '../../events/events.js';
import { createLog } from '../../events/log.js';
import { type TranscriptAbout, transcriptWriter } from '../../events/transcript-writer.js';
import type { SessionVerificationReport } from '../../events/verification-report.js';
import type { SessionScript } from '../../fixtures/session-script.js';
import { isWildcard } from '../../http/server.js';
import { warningText } from '../../render/outputs/trouble.js';
import { humanSessionVerification } from '../../render/outputs/verification.js';
import { colourLevel } from '../../render/terminal/colour-level.js';
import { SessionPlatform } from '../../session/platform/platform.js';
import { runAttached } from '../../system/child.js';
import { systemClock } from '../../system/drafts.js';
import { writeOut } from '../../system/streams.js';
import { keepHeapTight } from '../../system/watch-files.js';
import { ProtocolCliError } from '../../util/errors.js';
import { decodeUtf8 } from '../../util/json.js';
import { createRedactor, type Redactor } from '../../util/redact.js';
import { readSource } from '../read-source.js';
import { BoundedLines, saveTranscript } from '../save-files.js';
import { type ExitStatus, type Interruption, interruption, PROGRAM, type Terminal } from '../terminal.js';
import { readPlan, type SessionMockFlags, type SessionMockPlan } from './mock/plan.js';

/** A script that is larger was hardly written by hand. */
const MOST = 16 * 1024 * 1024;

/**
 * The script in a file, or on stdin for `-`; without a name the one that needs no file.
 * @throws ProtocolCliError `unreadable-file`, `invalid-fixtures`.
 */
async function scriptOf(file: string | null, { stdin }: Pick<Terminal, 'stdin'>): Promise<SessionScript> {
  if (file === null) return (await import('../../fixtures/session-script.js')).defaultSessionScript();
  const text = decodeUtf8(await readSource(file, stdin, MOST));
  if (text === null)
    throw new ProtocolCliError('unreadable-file', `cannot read ${file}: it is not UTF-8`, {
      hint: 'A session script is YAML or JSON.',
    });
  const { readSessionScript } = await import('../../fixtures/session-script.js');
  return readSessionScript({ path: file, text });
}

interface TellingDesk {
  readonly plan: SessionMockPlan;
  readonly terminal: Terminal;
  readonly redactor: Redactor;
  readonly about: TranscriptAbout;
}

/** How what happens is told while it does. */
interface Telling {
  /** Resolves when the person at the terminal has had enough; never, where there is none. */
  readonly quit: Promise<void>;
  end(): Promise<void>;
}

const SILENCE: Telling = { quit: new Promise<never>(() => {}), end: async () => {} };

/** Says first where the platform is reached, then what happens there, from its first event on. */
async function startTelling(platform: SessionPlatform, desk: TellingDesk): Promise<Telling> {
  const { plan, terminal } = desk;
  if (plan.output === 'ui') return screen(platform, desk);
  tellReady(platform, plan, terminal);
  if (plan.output === 'ndjson') return events(platform, desk);
  if (plan.flags.quiet) return SILENCE;
  const { sessionPlain } = await import('../../render/outputs/session-plain.js');
  const { stdout, stderr } = terminal;
  const stream = stdout.isTTY === true && plan.command === null ? stdout : stderr;
  follow(platform, sessionPlain(stream, { level: levelFor(desk, stream), redactor: desk.redactor }));
  return SILENCE;
}

async function screen(platform: SessionPlatform, desk: TellingDesk): Promise<Telling> {
  const { platformScreen } = await import('../../tui/session/platform.js');
  const { stdin, stdout, stderr } = desk.terminal;
  let quitting = () => {};
  const quit = new Promise<void>(resolve => {
    quitting = resolve;
  });
  const view = platformScreen({
    platform: { url: platform.url, session: platform.session, key: desk.plan.toldKey },
    subscribe: listener => follow(platform, listener),
    stdin,
    stdout,
    clock: systemClock,
    level: levelFor(desk, stdout),
    onQuit: quitting,
  });
  const [warning] = openness(desk.plan);
  if (warning !== undefined) view.notice(warning, true);
  const end = async () => {
    await view.close();
    stderr.write(`${view.summary()}\n`); // the list is gone with the screen it stood on
  };
  return { quit, end };
}

/** For programs on stdout, with the key; for people on stderr, with a random one only: they know what they gave. */
function tellReady(
  { port, url, session }: SessionPlatform,
  { command, flags, key, toldKey }: SessionMockPlan,
  { stdout, stderr }: Terminal,
): void {
  const isPiped = stdout.isTTY !== true && command === null;
  if (isPiped) stdout.write(`${JSON.stringify({ port, url, key, session })}\n`);
  else
    stderr.write(`session mock at ${url}, session ${session}${toldKey === null ? '' : `, key ${toldKey}`}\n`);
  for (const message of openness({ flags })) stderr.write(warningText({ message }));
}

function openness({ flags: { host } }: Pick<SessionMockPlan, 'flags'>): string[] {
  return isWildcard(host) ? [`it is open to the network (--host ${host})`] : [];
}

function levelFor({ plan, terminal: { env } }: TellingDesk, stream: NodeJS.WriteStream) {
  return colourLevel({ env, isTTY: stream.isTTY === true, noColor: !plan.flags.color });
}

/** Every event as it happens: the lines of a transcript. */
function events(platform: SessionPlatform, { terminal: { stdout }, redactor, about }: TellingDesk): Telling {
  const writer = transcriptWriter(redactor);
  let latest = { seq: 0, at: 0 };
  const why = 'whoever reads this is too slow for it';
  const lines = new BoundedLines(stdout, count =>
    writer.event({ kind: 'dropped', what: 'event', why, count, ...latest }),
  );
  lines.end(() => [writer.header(about)]);
  follow(platform, event => {
    lines.write(() => writer.event(event));
    latest = { seq: event.seq, at: event.at };
  });
  return { ...SILENCE, end: async () => lines.end(() => [writer.end('done')]) };
}

/** From the first event on: it came before anybody listened. */
function follow(platform: SessionPlatform, listener: (event: Event) => void): () => void {
  for (const event of platform.events) listener(event);
  return platform.subscribe(listener);
}

/**
 * What was unanswered, unexpected, unreached or refused: on stderr, where it decides. Where the command failed, that is said last: its
 * status is the one that counts.
 */
async function tellVerdict(
  report: SessionVerificationReport,
  { isVerified, command, key }: SessionMockPlan,
  { stderr }: Terminal,
  commandStatus: number,
): Promise<ExitStatus> {
  if (!isVerified) return 0;
  await writeOut(stderr, createRedactor([key]).text(humanSessionVerification(report)));
  if (command && commandStatus !== 0) stderr.write(`✗ the command exited with ${commandStatus}\n`);
  return report.ok ? 0 : 1;
}

/**
 * `session mock`, from the words to the exit status: serves until the command ends, or somebody stops it. Where the command failed, its
 * status is ours.
 */
export async function runSessionMock(
  words: readonly string[],
  flags: SessionMockFlags,
  terminal: Terminal,
): Promise<number> {
  const plan = readPlan(words, flags, terminal);
  const script = await scriptOf(plan.file, terminal);
  keepHeapTight();
  const log = createLog(() => systemClock.now());
  const { key } = plan;
  const redactor = createRedactor([key]);
  const about = {
    startedAt: systemClock.wall().toISOString(),
    observer: 'platform',
    program: PROGRAM,
  } as const;
  const interrupted = interruption();
  const finish =
    flags.save === undefined ? null : await saveTranscript(log, flags.save, redactor, about, terminal);
  let reason = 'done';
  try {
    await using platform = await SessionPlatform.start({ ...platformOptions(plan), script, log, key });
    const telling = await startTelling(platform, { plan, terminal, redactor, about });
    const status = await serve(platform, plan, interrupted, telling.quit);
    await platform.close();
    await telling.end();
    const verdict = await tellVerdict(platform.verify(), plan, terminal, status);
    return status || verdict;
  } catch (error) {
    reason = error instanceof ProtocolCliError ? error.code : 'failed';
    throw error;
  } finally {
    interrupted.release();
    await finish?.(reason);
  }
}

function platformOptions({ flags: { host, port, allowHost = [] } }: SessionMockPlan) {
  return { host, port, allowHosts: allowHost };
}

/** Resolves to the command's exit status; 0 where there is none, since to be stopped is a server's normal end. */
async function serve(
  { url, key, session }: SessionPlatform,
  { command }: SessionMockPlan,
  interrupted: Interruption,
  quit: Promise<void>,
): Promise<number> {
  const stopped = interrupted.signalStatus();
  if (command && stopped !== undefined) return stopped; // it came while we started
  if (command)
    return runAttached({ argv: command, env: { SESSION_URL: url, SESSION_ID: session, API_KEY: key } });
  const signalled = new Promise<void>(resolve => {
    interrupted.onSignal(resolve);
  });
  await Promise.race([signalled, quit]);
  return 0;
}
