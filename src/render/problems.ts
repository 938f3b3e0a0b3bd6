import { type Conformance, conformanceOf } from '../check/conformance.js';
import type { Check } from '../check/judge.js';
import { checkTranscript } from '../check/report.js';
import type { Book } from '../events/call-log.js';
import { type Event, toldOnce } from '../events/events.js';
import type { Exchange } from '../events/exchange.js';
import { History } from '../events/history.js';
import type { RequirementId, Side, Warning } from '../protocol/requirements.js';
import { cleanWords, type Redactor } from '../util/redact.js';
import { type Around, reportLines, shareableRun } from './check-report.js';
import { type Failure, failureOf } from './failure.js';
import { type Line, say } from './line.js';
import { problemLines } from './saved-answers.js';
import { counted, warningsOf, withoutFollow } from './warnings.js';

/** What a call came to by the requirements of these sides: nothing is excused, and which call it is, is known. Secrets out. */
function judgedRun(checks: readonly Check[], sides: readonly Side[], redactor: Redactor): Conformance {
  const rows = checks.map(({ calls, ...check }) => check);
  return shareableRun(conformanceOf(rows, [], { excuses: [], sides, isStrict: false }), redactor);
}

/** The same in lines, with a word about it where nothing is wrong. @param hasEnded as it was meant to, as far as is known */
function runLines(
  run: Conformance,
  around: Omit<Around, 'whole' | 'width'>,
  hasEnded = true,
): readonly Line[] {
  const { verdict, summary } = run;
  const isFine = hasEnded && verdict === 'passed' && summary.warn === 0 && around.warnings.length === 0;
  return [
    ...(isFine ? fineLines(run) : []),
    ...reportLines(run, { ...around, whole: WHOLE, width: null }, false),
  ];
}

/** Where a person finds all of what is told shortly. */
const WHOLE = 'the Wire tab';

function fineLines({ summary: { pass } }: Conformance): Line[] {
  const held = `${pass} requirement${pass === 1 ? '' : 's'} passed`;
  return [[say('✓ ', 'good'), say('no problems', 'title'), say(`: ${held}`)], []];
}

/** What is asked of files alone: a live session has the `auth_url` whole, or nobody could visit it. */
const OF_FILES: ReadonlySet<RequirementId> = new Set(['RT-OAUTH']);
const NOTHING: ReadonlySet<RequirementId> = new Set();

/** What a call came to: in lines, and how many requirements were broken, how many of those a MUST. */
export interface Judgement {
  readonly lines: readonly Line[];
  readonly broken: number;
  readonly musts: number;
}

/**
 * What is wrong with a call, by the requirements of the protocol on both sides: why there is no result, then the failures, each with
 * its proof, then all the rest. Secrets out.
 * @param events that concern it
 * @param witness who saw them, and whether they are from a file
 * @param isUnvalidated a person had it sent as it is: what that breaks is no fault of the runtime's, which is this program
 */
export async function judgedLines(
  events: readonly Event[],
  exchange: Exchange,
  redactor: Redactor,
  { observer, isSaved }: Pick<Book, 'observer' | 'isSaved'>,
  isUnvalidated = false,
): Promise<Judgement> {
  const judged = await checkTranscript(events, { observer, skip: isSaved ? NOTHING : OF_FILES });
  const { checks, wishes } = isUnvalidated ? withWishes(judged.checks) : { ...judged, wishes: [] };
  const run = judgedRun(checks, ['tool', 'runtime'], redactor);
  const history = new History();
  for (const event of toldOnce(events)) history.apply(event);
  const warnings = [...wishes, ...besides(run, warningsOf(history, exchange))].map(message =>
    cleanWords(redactor, message),
  );
  const failure = exchange.settled ? failureOf(exchange, history.errands, 'workbench') : null;
  const around = { record: { events, redactor }, warnings };
  const broken = run.checks.filter(({ status }) => status === 'fail');
  return {
    lines: [...failureLines(failure, redactor), ...runLines(run, around, failure === null)],
    broken: broken.length,
    musts: broken.filter(({ level }) => level === 'MUST').length,
  };
}

/** What a person wanted is a remark, and nothing to mend. */
function withWishes(checks: readonly Check[]): {
  readonly checks: readonly Check[];
  readonly wishes: readonly string[];
} {
  const isWish = ({ id, status }: Check) => id === 'RT-ARGS' && (status === 'fail' || status === 'warn');
  return {
    checks: checks.filter(check => !isWish(check)),
    wishes: checks
      .filter(isWish)
      .map(({ id, reason }) => `${reason}; sent without validation, as requested (${id})`),
  };
}

function failureLines(failure: Failure | null, redactor: Redactor): Line[] {
  if (!failure) return [];
  const { message, hint } = failure;
  const clean = {
    message: cleanWords(redactor, message),
    ...(hint !== undefined && { hint: cleanWords(redactor, hint) }),
  };
  return [...problemLines([], clean, 'No result'), []];
}

/** What a row tells of a requirement need not be said twice. */
function besides({ checks }: Conformance, warnings: readonly Warning[]): string[] {
  const told = new Set(
    checks.flatMap(({ id, status }) => (status === 'fail' || status === 'warn' ? [id] : [])),
  );
  return counted(warnings)
    .filter(({ id }) => id === undefined || !told.has(id))
    .map(warning => withoutFollow(warning).message);
}

/**
 * What a runtime did wrong with a call, as its tool saw it, by the requirements of runtimes: what the tool itself does it may do on
 * purpose. Failures first, each with its proof, and how many they are. Secrets out.
 * @param events of the call, and how its operation was discovered
 * @param warnings of the tool, foreign words in them
 */
export async function judgedRuntimeLines(
  events: readonly Event[],
  warnings: readonly string[],
  redactor: Redactor,
): Promise<{ readonly lines: readonly Line[]; readonly broken: number }> {
  const { checks } = await checkTranscript(events, { sides: ['runtime'], observer: 'tool' });
  const run = judgedRun(checks, ['runtime'], redactor);
  const around = { record: { events, redactor }, warnings: warnings.map(text => cleanWords(redactor, text)) };
  const broken = run.checks.filter(({ status }) => status === 'fail').length;
  return { lines: runLines(run, around), broken };
}
