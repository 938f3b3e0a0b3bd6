import { History } from '../../events/history.js';
import { createLog } from '../../events/log.js';
import { Sessions } from '../../events/session-calls.js';
import { withQuestionSecrets } from '../../events/shareable.js';
import { type TranscriptAbout, transcriptWriter } from '../../events/transcript-writer.js';
import { createNodeClient } from '../../http/node-client.js';
import { isWildcard } from '../../http/server.js';
import type { Warning } from '../../protocol/requirements.js';
import type { Paper, Trouble } from '../../render/outputs/reporter.js';
import type { KnownSession, SessionReporter } from '../../render/outputs/session/report.js';
import { errorReport } from '../../render/outputs/trouble.js';
import { verboseTeller } from '../../render/wire.js';
import { answering, type SessionEnd } from '../../session/client/answering.js';
import { type Clock, systemClock } from '../../system/clock.js';
import { holdOpen } from '../../system/process.js';
import { writeOut } from '../../system/streams.js';
import { secretsOf } from '../../util/credentials.js';
import { ProtocolCliError } from '../../util/errors.js';
import { createRedactor, type Redactor, safeJson } from '../../util/redact.js';
import { cut, formatDuration } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import { type Consent, type Denial, denialOf, loadPolicy, type Stage } from '../invoke/questions.js';
import { colourOf } from '../output.js';
import { aboutNow, saveTranscript } from '../save-files.js';
import {
  type ExitStatus,
  type Interruption,
  interruption,
  statusOfFailure,
  type Terminal,
} from '../terminal.js';
import {
  type AnswerFlags,
  type AnswerOutput,
  type AnswerPlan,
  type Observation,
  planAnswer,
  type Setting,
  toolHeaders,
} from './answer-plan.js';

/** `session answer`, from the words to the exit status. */
export async function runSessionAnswer(
  words: readonly [base: string, id: string],
  flags: AnswerFlags,
  terminal: Terminal,
  clock: Clock = systemClock,
): Promise<ExitStatus> {
  try {
    const plan = planAnswer(words, flags, terminal);
    return await run(plan, await observe(plan, terminal, clock), clock);
  } catch (error) {
    // -o json prints an object, however early the error.
    if (flags.output === 'json' && error instanceof ProtocolCliError)
      await writeOut(terminal.stdout, `${safeJson({ warnings: [], error: errorReport(error) }, 2)}\n`);
    throw error;
  }
}

async function run(plan: AnswerPlan, observation: Observation, clock: Clock): Promise<ExitStatus> {
  const { terminal, reporter } = observation;
  const interrupted = interruption();
  const letGo = holdOpen(); // a call without a limit may wait for what has no timer of ours
  const client = createNodeClient();
  const stops = [() => client.close(), async () => letGo()];
  const onStop = (stop: () => Promise<void>) => void stops.unshift(stop); // the last one started stops first
  const notes = ownNotes(plan);
  const setting = { plan, terminal, clock, client, observation, interrupted, onStop };
  let trouble: Trouble | null;
  try {
    trouble = await serve(setting, notes).catch(asTrouble);
  } finally {
    for (const stop of stops) await stop().catch(() => {});
    interrupted.release();
    await reporter.close?.();
  }
  return conclude(plan, observation, trouble, notes, interrupted);
}

/** Warnings about the options (threats, row 5). */
function ownNotes({ source, flags: { callbackHost } }: AnswerPlan): Warning[] {
  if (source.kind !== 'tool' || !isWildcard(callbackHost)) return [];
  return [{ message: `the callback listener is open to the network (--callback-host ${callbackHost})` }];
}

/** Answers until the session settles. Returns what went wrong with it. @param notes gets the answerer's warnings */
async function serve(common: Omit<Setting, 'governing'>, notes: Warning[]): Promise<Trouble | null> {
  const { plan, terminal, clock, client, observation, interrupted, onStop } = common;
  const { reporter, log } = observation;
  const { policy: file, yes = false, wait } = plan.flags;
  const policy = file === undefined ? null : await loadPolicy(file, terminal);
  const aside: Stage['aside'] = work => reporter.aside?.(work) ?? work();
  const { signal } = interrupted;
  const { openAnswerer } = await import('./answerers.js');
  const asking = governing({ policy, yes }, { terminal, signal, aside });
  const answerer = await openAnswerer({ ...common, governing: asking });
  onStop(() => answerer.close());
  notes.push(...answerer.notes);
  const { url, id: thread, key } = plan;
  return troubleOf(await answering({ client, log, clock, url, thread, key, signal }, answerer, wait), wait);
}

/** An idle session waits for a message. */
const WELL: ReadonlySet<string> = new Set(['completed', 'idle']);

const LONGEST = 500;

/** What is wrong with how a session ended; null if it ended well. */
export function troubleOf({ id, status, isSettled, error }: SessionEnd, waitMs: number): Trouble | null {
  if (!isSettled)
    return {
      code: 'timeout',
      message: `nothing new from the session ${visibleLine(id)} within ${formatDuration(waitMs)}: it is ${visibleLine(status)}`,
      hint: '--wait gives it more time; without --wait the time is not limited.',
    };
  if (WELL.has(status)) return null;
  const reason = error === null ? '' : `: ${cut(visibleLine(error), LONGEST)}`;
  return {
    code: 'session-failed',
    message: `the session ${visibleLine(id)} ended as ${visibleLine(status)}${reason}`,
  };
}

async function conclude(
  { id, url }: AnswerPlan,
  { reporter, known, finish, redactor }: Observation,
  trouble: Trouble | null,
  notes: readonly Warning[],
  interrupted: Interruption,
): Promise<ExitStatus> {
  const unsaved = await finish(trouble?.code ?? 'done').then(() => null, asTrouble);
  const ended = trouble ?? unsaved;
  const lost = trouble && unsaved ? [{ message: unsaved.message }] : [];
  const shown = ended && redacted(ended, redactor.text);
  await reporter.end({ session: { id, url }, known, notes: [...notes, ...lost], trouble: shown });
  return interrupted.signalStatus() ?? (ended ? statusOfFailure(ended.code) : 0);
}

/** A new object, since the message of an error is not its own property; each part may quote a platform that echoes the key. */
function redacted({ code, message, hint, faults }: Trouble, redact: (text: string) => string): Trouble {
  return {
    code,
    message: redact(message),
    hint: hint === undefined ? undefined : redact(hint),
    ...(faults && { faults: faults.map(redact) }),
  };
}

function asTrouble(error: unknown): Trouble {
  if (error instanceof ProtocolCliError) return error;
  throw error;
}

/** What reporters need. */
interface Reporting {
  readonly plan: AnswerPlan;
  readonly terminal: Terminal;
  readonly paper: Paper;
  readonly known: KnownSession;
  readonly redactor: Redactor;
  readonly about: TranscriptAbout;
  readonly clock: Clock;
}

/** Each output is loaded only when it is asked for. */
const REPORTERS: Readonly<Record<AnswerOutput, (reporting: Reporting) => Promise<SessionReporter>>> = {
  async plain({ known, paper, redactor, plan, terminal }) {
    const { plainSession } = await import('../../render/outputs/session.js');
    const isTTY = terminal.stdout.isTTY === true;
    return plainSession(known, paper, {
      level: colourOf(terminal.stdout, plan.flags, terminal),
      isTTY,
      redactor,
    });
  },
  async json({ known, paper, redactor }) {
    const { jsonSession } = await import('../../render/outputs/session/report.js');
    return jsonSession(known, paper, redactor);
  },
  async ndjson({ known, paper, redactor, about }) {
    const { ndjsonSession } = await import('../../render/outputs/text.js');
    return ndjsonSession(known, paper, transcriptWriter(redactor), about);
  },
  async ui({ known, paper, clock, terminal, plan, redactor }) {
    const { liveSession } = await import('../../tui/session/answer.js');
    const { stdin, stdout, interrupt } = terminal;
    const { id, url, flags } = plan;
    return liveSession({
      ...{ known, paper, stdin, stdout, clock, redactor, interrupt },
      session: { id, url },
      supports: flags.supports,
      level: colourOf(stdout, flags, terminal),
    });
  },
};

/** @throws ProtocolCliError `usage`, `unwritable-file`. */
export async function observe(plan: AnswerPlan, terminal: Terminal, clock: Clock): Promise<Observation> {
  const { flags, key } = plan;
  const log = createLog(() => clock.now());
  const redactor = withQuestionSecrets(createRedactor([key, ...secretsOf(toolHeaders(plan, terminal))]));
  const known = { history: new History(true, redactor.text), sessions: new Sessions() };
  log.subscribe(event => known.history.apply(event));
  log.subscribe(event => known.sessions.apply(event));
  log.subscribe(event => redactor.learn(event));
  const about = aboutNow('client', clock);
  const finish = await saveTranscript(log, flags.save, redactor, about, terminal);
  const stderr: Terminal['stderr'] = Object.create(terminal.stderr, {
    write: { value: (text: string) => terminal.stderr.write(redactor.text(text)) },
  });
  const paper = { stdout: terminal.stdout, stderr, quiet: flags.quiet === true };
  const reporting = { plan, terminal, paper, known, redactor, about, clock };
  const reporter = await REPORTERS[plan.output](reporting);
  if (reporter.event) log.subscribe(reporter.event);
  if (flags.verbose) log.subscribe(verboseTeller(redactor, verboseWriter(plan, terminal)));
  return { log, known, redactor, reporter, terminal: { ...terminal, stderr }, finish };
}

/** At once, or after the live view, which it would tear apart. */
function verboseWriter({ output }: AnswerPlan, { stderr }: Terminal): (text: string) => void {
  if (output !== 'ui') return text => void stderr.write(text);
  const later: string[] = [];
  process.once('exit', () => stderr.write(later.join('')));
  return text => void later.push(text);
}

/**
 * The policy, then the user at the terminal, as for `invoke`. Calls run concurrently, but the user is asked one thing after the other.
 * Without a terminal, the answer is no.
 */
export function governing(
  consent: Consent,
  stage: Pick<Stage, 'terminal' | 'signal' | 'aside'>,
): Setting['governing'] {
  let before: Promise<unknown> = Promise.resolve();
  const oneByOne: Stage['aside'] = work => {
    const done = before.then(() => stage.aside(work));
    before = done.catch(() => {});
    return done;
  };
  return (tool, args) =>
    denialOf(tool, args, consent, { ...stage, aside: oneByOne }).catch(denialWithoutUser);
}

function denialWithoutUser(error: unknown): Denial {
  if (!(error instanceof ProtocolCliError) || error.code !== 'decision-needed') throw error;
  return { by: 'policy', reason: 'it is marked destructive, and only a terminal can ask' };
}
