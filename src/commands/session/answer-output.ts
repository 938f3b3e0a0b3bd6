import { History } from '../../events/history.js';
import { createLog, type Log } from '../../events/log.js';
import { Sessions } from '../../events/session-calls.js';
import { type EventRedactor, withQuestionSecrets } from '../../events/shareable.js';
import { type TranscriptAbout, transcriptWriter } from '../../events/transcript-writer.js';
import type { Paper } from '../../render/outputs/reporter.js';
import type { KnownSession, SessionReporter } from '../../render/outputs/session/report.js';
import { colourLevel } from '../../render/terminal/colour-level.js';
import { verboseTeller } from '../../render/wire.js';
import type { Governed } from '../../runtime/policy.js';
import type { Clock } from '../../system/drafts.js';
import { secretsOf } from '../../util/credentials.js';
import { ProtocolCliError } from '../../util/errors.js';
import { createRedactor, type Redactor } from '../../util/redact.js';
import type { Stage } from '../invoke/plan.js';
import { type Consent, type Denial, denialOf } from '../invoke/questions.js';
import { saveTranscript } from '../save-files.js';
import { readHeaders } from '../target.js';
import { PROGRAM, type Terminal } from '../terminal.js';
import type { AnswerOutput, AnswerPlan } from './answer-plan.js';

/** What reporters tell from, and where. */
interface Desk {
  readonly plan: AnswerPlan;
  readonly terminal: Terminal;
  readonly paper: Paper;
  readonly known: KnownSession;
  readonly redactor: Redactor;
  readonly about: TranscriptAbout;
  readonly clock: Clock;
}

/** Each output is loaded only when it is asked for. */
async function reporterFor(desk: Desk): Promise<SessionReporter> {
  return REPORTERS[desk.plan.output](desk);
}

const REPORTERS: Readonly<Record<AnswerOutput, (desk: Desk) => Promise<SessionReporter>>> = {
  plain: async desk => {
    const { plainSession } = await import('../../render/outputs/session.js');
    const isTTY = desk.terminal.stdout.isTTY === true;
    return plainSession(desk.known, desk.paper, { level: levelFor(desk), isTTY, redactor: desk.redactor });
  },
  json: async ({ known, paper, redactor }) => {
    const { jsonSession } = await import('../../render/outputs/session/report.js');
    return jsonSession(known, paper, redactor);
  },
  ndjson: async ({ known, paper, redactor, about }) => {
    const { ndjsonSession } = await import('../../render/outputs/text.js');
    return ndjsonSession(known, paper, transcriptWriter(redactor), about);
  },
  ui: async desk => {
    const { liveSession } = await import('../../tui/session/answer.js');
    const { known, paper, clock, terminal, plan, redactor } = desk;
    const { id, url } = plan;
    const { stdin, stdout, interrupt } = terminal;
    const { supports } = plan.flags;
    return liveSession({
      known,
      session: { id, url },
      paper,
      stdin,
      stdout,
      clock,
      supports,
      redactor,
      level: levelFor(desk),
      interrupt,
    });
  },
};

function levelFor({ plan, terminal: { stdout, env } }: Desk) {
  return colourLevel({ env, isTTY: stdout.isTTY === true, noColor: !plan.flags.color });
}

/** Everybody who looks on, at both legs: the folds, the reporter, the transcript. */
export interface Observation {
  readonly log: Log;
  readonly known: KnownSession;
  readonly redactor: EventRedactor;
  readonly reporter: SessionReporter;
  /** The terminal whose stderr redacts secrets: questions quote platforms and tools, which may echo them (threats, row 25). */
  readonly terminal: Terminal;
  /** Puts the transcript in its place, where one was asked for. @throws ProtocolCliError `unwritable-file`. */
  finish(reason: string): Promise<void>;
}

/** @throws ProtocolCliError `usage`, `unwritable-file`. */
export async function observe(plan: AnswerPlan, terminal: Terminal, clock: Clock): Promise<Observation> {
  const { flags, key } = plan;
  const log = createLog(() => clock.now());
  const redactor = withQuestionSecrets(createRedactor([key, ...secretsOf(toolHeaders(plan, terminal))]));
  const known = { history: new History(true, redactor.text), sessions: new Sessions() };
  log.subscribe(event => known.history.apply(event));
  log.subscribe(event => known.sessions.apply(event));
  log.subscribe(event => redactor.learn(event));
  const about = { startedAt: clock.wall().toISOString(), observer: 'client', program: PROGRAM } as const;
  const finish =
    flags.save === undefined
      ? async () => {}
      : await saveTranscript(log, flags.save, redactor, about, terminal);
  const stderr: Terminal['stderr'] = Object.create(terminal.stderr, {
    write: { value: (text: string) => terminal.stderr.write(redactor.text(text)) },
  });
  const paper = { stdout: terminal.stdout, stderr, quiet: flags.quiet === true };
  const reporter = await reporterFor({ plan, terminal, paper, known, redactor, about, clock });
  if (reporter.event) log.subscribe(reporter.event);
  if (flags.verbose) tellVerbosely(log, plan, redactor, terminal);
  return { log, known, redactor, reporter, terminal: { ...terminal, stderr }, finish };
}

/** What goes to the tool's own origin, and to no other. @throws ProtocolCliError `usage`. */
export function toolHeaders({ flags }: AnswerPlan, { env }: Pick<Terminal, 'env'>): Record<string, string> {
  const { toolHeader: header, toolBearer: bearer } = flags;
  const given = { ...(header && { header }), ...(bearer !== undefined && { bearer }) };
  return readHeaders(given, env, { header: '--tool-header', bearer: '--tool-bearer' });
}

function tellVerbosely(
  log: Log,
  { output }: AnswerPlan,
  redactor: EventRedactor,
  { stderr }: Terminal,
): void {
  if (output !== 'ui') {
    log.subscribe(verboseTeller(redactor, text => stderr.write(text)));
    return;
  }
  const later: string[] = []; // written in between, it would tear the live view apart
  log.subscribe(verboseTeller(redactor, text => later.push(text)));
  process.once('exit', () => stderr.write(later.join('')));
}

/** Whether a call may be made; null where it may. */
export type Governing = (tool: Governed, args: unknown) => Promise<Denial | null>;

/**
 * The policy, then the person at the terminal, as for `invoke`; calls come side by side, and a person is asked one thing after the
 * other. Without a terminal, the answer is no.
 */
export function governing(consent: Consent, stage: Pick<Stage, 'terminal' | 'signal' | 'aside'>): Governing {
  let before: Promise<unknown> = Promise.resolve();
  const oneByOne: Stage['aside'] = work => {
    const done = before.then(() => stage.aside(work));
    before = done.catch(() => {});
    return done;
  };
  return (tool, args) => denialOf(tool, args, consent, { ...stage, aside: oneByOne }).catch(denialOfNobody);
}

function denialOfNobody(error: unknown): Denial {
  if (!(error instanceof ProtocolCliError) || error.code !== 'decision-needed') throw error;
  return { by: 'policy', reason: 'it is marked destructive, and there is no terminal to ask' };
}
