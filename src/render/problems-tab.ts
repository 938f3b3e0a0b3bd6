import { conformanceOf, type Row, type Standing } from '../check/conformance.js';
import { checkTranscript } from '../check/judge.js';
import type { CheckReport } from '../check/report.js';
import type { CallLog } from '../events/call-log.js';
import type { Event } from '../events/events.js';
import type { Exchange } from '../events/exchange.js';
import { History } from '../events/history.js';
import { eventsOnSide } from '../events/round-trips.js';
import type { RequirementId, Side, Warning } from '../protocol/requirements.js';
import type { Redactor } from '../util/redact.js';
import { shareableRun, type WireRecord } from './check-evidence.js';
import { mergedFindings } from './check-findings.js';
import { absentPart, passedPart, problemParts, wholeLines } from './check-report.js';
import { failureOf, problemLines } from './failure.js';
import { type Line, pluralize, say } from './line.js';
import type { Trouble } from './outputs/trouble.js';
import { mergeWarnings, warningsOf, withoutOptions } from './warnings.js';

/** Rules for recordings only: a live session keeps the whole `auth_url` so that the user can open it. */
const RECORDING_RULES: ReadonlySet<RequirementId> = new Set(['RT-OAUTH']);

/** What a tab of problems shows. Unfolded, it also lists the rules that passed or do not apply. */
export type ProblemLines = (isUnfolded: boolean) => readonly Line[];

/**
 * The problems of a call, without secrets: why the result is missing, then violations with their evidence. The rules of the side that
 * recorded the call are not counted: only their violations are listed, separately.
 * @param events of the call
 * @param witness who saw them, and whether they are from a file
 * @param isUnvalidated the user sent the call unvalidated: its violations are reported as notes, not failures
 */
export async function judgedLines(
  events: readonly Event[],
  exchange: Exchange,
  redactor: Redactor,
  { observer, isSaved }: Pick<CallLog, 'observer' | 'isSaved'>,
  isUnvalidated = false,
): Promise<ProblemLines> {
  const { checks } = await checkTranscript(events, { observer, skip: isSaved ? new Set() : RECORDING_RULES });
  const isIntended = ({ id, status }: CheckReport['checks'][number]) =>
    isUnvalidated && id === 'RT-ARGS' && (status === 'fail' || status === 'warn');
  const history = new History();
  for (const event of eventsOnSide('tool-side', events)) history.apply(event);
  const rows = checks.filter(check => !isIntended(check));
  const faulty = new Set(
    rows.filter(({ status }) => status === 'fail' || status === 'warn').map(({ id }) => id),
  );
  // Skips warnings about a requirement that already has a row.
  const isNew = ({ id }: Warning) => id === undefined || !faulty.has(id);
  const notes = [
    ...checks
      .filter(isIntended)
      .map(({ id, reason }) => `${reason}; sent without validation, as requested (${id})`),
    ...mergeWarnings(warningsOf(history, exchange))
      .filter(isNew)
      .map(warning => withoutOptions(warning).message),
  ];
  const failure = exchange.settled ? failureOf(exchange, history.untracked) : null;
  const own = observer === 'runtime' || observer === 'tool' ? observer : null;
  return problemLinesOf(rows, { events, redactor }, notes, own, failureLines(failure, redactor));
}

/**
 * The problems of a runtime with a call, as its tool saw it, without secrets. The tool itself is not judged: a mock may misbehave on
 * purpose.
 * @param events of the call, and of the discovery of its operation
 * @param warnings of the tool
 */
export async function judgedRuntimeLines(
  events: readonly Event[],
  warnings: readonly string[],
  redactor: Redactor,
): Promise<ProblemLines> {
  const { checks } = await checkTranscript(events, { sides: ['runtime'], observer: 'tool' });
  return problemLinesOf(checks, { events, redactor }, warnings);
}

/** @param own the side whose rules are not counted @param failure why the result is missing */
function problemLinesOf(
  checks: CheckReport['checks'],
  record: WireRecord,
  notes: readonly string[],
  own: Side | null = null,
  failure: readonly Line[] = [],
): ProblemLines {
  // All rows are about this call, so its name is left out.
  const rows = checks.map(({ calls, ...check }) => check);
  const run = shareableRun(conformanceOf(rows), record.redactor);
  const findings = mergedFindings(run);
  const counting = run.checks.filter(({ side }) => side !== own);
  const whole = 'the Wire tab';
  const warnings = notes.map(text => record.redactor.text(text));
  const problems = [...failure, ...problemParts(findings, { record, warnings }, own)];
  const fine: Line[] = problems.length > 0 ? [] : [[say('✓ ', 'good'), say('no problems', 'title')], []];
  const folded = [...passedPart(counting, findings, Number.POSITIVE_INFINITY), ...absentPart(counting)];
  return isUnfolded => [
    ...fine,
    ...problems,
    ...wholeLines(findings, whole),
    ...(isUnfolded ? folded : []),
    [say(foldedText(counting)), say(isUnfolded ? '   z hides them' : '   z lists them', 'dim')],
  ];
}

/** `23 rules passed · 14 do not apply` */
function foldedText(rows: readonly Row[]): string {
  const count = (standing: Standing) => rows.filter(row => row.standing === standing).length;
  const absent = count('not-applicable');
  return `${pluralize(count('passed'), 'rule')} passed · ${absent} ${absent === 1 ? 'does' : 'do'} not apply`;
}

function failureLines(failure: Trouble | null, redactor: Redactor): Line[] {
  if (!failure) return [];
  const { message, hint } = failure;
  const shown = { message: redactor.text(message), ...(hint !== undefined && { hint: redactor.text(hint) }) };
  return [...problemLines([], shown, 'No result'), []];
}
