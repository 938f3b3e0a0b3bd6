import { type EventRedactor, withQuestionSecrets } from '../../../exchange/callback-secrets.js';
import { History } from '../../../exchange/history.js';
import { createLog, type Log } from '../../../exchange/log.js';
import { Sessions } from '../../../exchange/session/sessions.js';
import type { KnownSession, SessionReporter } from '../../../reporters/session/reporter.js';
import { verboseTeller } from '../../../reporters/verbose.js';
import type { Clock } from '../../../system/clock.js';
import { createRedactor } from '../../../text/redact.js';
import { readHeaders, secretsOf } from '../../headers.js';
import { PROGRAM } from '../../program.js';
import { saveTranscript } from '../../save-transcript.js';
import type { Terminal } from '../../terminal.js';
import type { AnswerPlan } from './plan.js';
import { reporterFor } from './reporter-for.js';

/** Everybody who looks on, at both legs: the folds, the reporter, the transcript. */
export interface Observation {
  readonly log: Log;
  readonly known: KnownSession;
  readonly redactor: EventRedactor;
  readonly reporter: SessionReporter;
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
  const { stdout } = terminal;
  const stderr = { write: (text: string) => terminal.stderr.write(redactor.text(text)) }; // what we tell quotes platforms and tools (threats, row 25)
  const paper = { stdout, stderr, quiet: flags.quiet === true };
  const reporter = await reporterFor({ plan, terminal, paper, known, redactor, about, clock });
  if (reporter.event) log.subscribe(reporter.event);
  if (flags.verbose) tellVerbosely(log, plan, redactor, terminal);
  return { log, known, redactor, reporter, finish };
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
