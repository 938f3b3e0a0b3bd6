import type { CaseCheck } from '../check/cases.js';
import {
  type Conformance,
  conformanceOf,
  type Row,
  type Standing,
  type Verdict,
} from '../check/conformance.js';
import { notCalled } from '../check/evidence.js';
import { type Check, checkTranscript } from '../check/judge.js';
import type { ObservableRule } from '../check/rule.js';
import { RULES } from '../check/rules/all.js';
import type { CallLog } from '../events/call-log.js';
import type { Event } from '../events/events.js';
import type { Exchange } from '../events/exchange.js';
import { History } from '../events/history.js';
import { toldOnce } from '../events/round-trips.js';
import { REQUIREMENT_IDS, type RequirementId, type Side, type Warning } from '../protocol/requirements.js';
import type { Redactor } from '../util/redact.js';
import { cut, firstFew } from '../util/text.js';
import { caseLines, caseName, gapLines, idleLines, rowLines, type WireRecord } from './check-rows.js';
import { type Failure, failureOf } from './failure.js';
import { counted as countedNoun, type Line, quote, type Span, say } from './line.js';
import { problemLines } from './saved-answers.js';
import { counted, warningsOf, withoutFollow } from './warnings.js';

const VERDICTS: Readonly<Record<Verdict, Span>> = {
  passed: say('✓ passed', 'good'),
  failed: say('✗ failed', 'bad'),
  incomplete: say('? incomplete', 'warn'),
};

/** In the order of the summary. */
const COUNTS: Readonly<Record<Standing, string>> = {
  passed: 'passed',
  failed: 'failed',
  stale: 'passed, but expected to fail',
  'could-not-run': 'could not run',
  warned: 'with a warning',
  expected: 'failed as expected',
  'not-applicable': 'not applicable',
};

/** `32 rules: 20 passed, 2 failed, 10 not applicable · 3 of 4 cases passed` */
export function summaryText({ checks, cases, gaps }: Conformance): string {
  const counts = Object.entries(COUNTS).flatMap(([standing, words]) => {
    const count = checks.filter(check => check.standing === standing).length;
    return count > 0 ? [`${count} ${words}`] : [];
  });
  const passing = cases.filter(({ status }) => status === 'pass').length;
  return [
    counts.length === 0 ? 'no rules' : `${countedNoun(checks.length, 'rule')}: ${counts.join(', ')}`,
    ...(cases.length === 0 ? [] : [`${passing} of ${cases.length} cases passed`]),
    ...(gaps.length === 0 ? [] : [`${countedNoun(gaps.length, 'gap')} in the recording`]),
  ].join(' · ');
}

/** What there is to show besides the rows. */
interface Around {
  readonly record: WireRecord;
  readonly warnings: readonly string[];
  /** Where the full messages are. */
  readonly whole: string;
  /** Cells of a row; null where the lines are wrapped later. */
  readonly width?: number | null | undefined;
}

/** Cells of a list of ids; wider ones are hard to read. */
const WIDEST = 96;

const MARGIN = say('  ', 'gutter');

/** A run for people: what is wrong first, then warnings, what is unknown, what passed; the summary last. */
export function reportLines(
  run: Conformance,
  { record, warnings, whole, width = WIDEST }: Around,
  isQuiet: boolean,
): readonly Line[] {
  const rows = (...standings: readonly Standing[]) =>
    run.checks.filter(row => standings.includes(row.standing));
  const details = (...standings: readonly Standing[]) => rows(...standings).map(row => rowLines(row, record));
  const cases = (status: CaseCheck['status']) =>
    run.cases.filter(each => each.status === status).map(each => caseLines(each, record));
  return [
    ...spacedPart('Failed', [...details('failed', 'stale'), ...cases('fail')]),
    ...spacedPart('Warnings', details('warned')),
    ...part(
      'Notes',
      warnings.map(message => [[MARGIN, ...quote(message, 'warn')]]),
    ),
    ...spacedPart('Could not run', [...details('could-not-run'), ...cases('could-not-run')]),
    ...part('Incomplete recording; violations may be missed', run.gaps.map(gapLines)),
    ...spacedPart('Expected failures', [...details('expected'), ...run.idle.map(idleLines)]),
    ...(isQuiet
      ? []
      : [
          ...passedPart(
            run,
            rows('passed'),
            width === null ? Number.POSITIVE_INFINITY : Math.min(width, WIDEST),
          ),
          ...absentPart(rows('not-applicable')),
          ...uncalledLines(notCalled(record.events)),
        ]),
    ...(hasMessages(run)
      ? [[say('Messages are shortened; full messages: ', 'dim'), ...quote(whole, 'dim')], []]
      : []),
    [VERDICTS[run.verdict], say(' · ', 'gutter'), say(summaryText(run))],
  ];
}

/** A heading, what stands below it, and an empty line; nothing where there is nothing below. */
function part(title: string, items: readonly (readonly Line[])[]): Line[] {
  return items.length === 0 ? [] : [[say(title, 'title')], ...items.flat(), []];
}

/** {@link part} with empty lines between its items. */
function spacedPart(title: string, items: readonly (readonly Line[])[]): Line[] {
  return part(
    title,
    items.map((item, index) => (index === 0 ? item : [[], ...item])),
  );
}

function passedPart({ cases }: Conformance, rows: readonly Row[], width: number): Line[] {
  const passing = cases.filter(({ status }) => status === 'pass');
  const items = [
    idLines(
      rows.map(({ id }) => id),
      width,
    ),
    ...rows
      .filter(({ isRemarkable }) => isRemarkable)
      .map(({ id, reason }): Line[] => [[MARGIN, say(`${id}: `), ...quote(reason, 'dim')]]),
    passing.map((each): Line => [say('  case ', 'gutter'), ...caseName(each)]),
  ];
  return part(
    'Passed',
    items.filter(({ length }) => length > 0),
  );
}

/** Ids as they fit on lines. */
function idLines(ids: readonly string[], width: number): Line[] {
  const rows: string[] = [];
  for (const id of ids) {
    const last = rows.at(-1);
    if (last !== undefined && last.length + id.length + 5 <= width) rows[rows.length - 1] = `${last}, ${id}`;
    else rows.push(id);
  }
  return rows.map(row => [MARGIN, say(row)]);
}

/** By their reason, since many have the same. */
function absentPart(rows: readonly Row[]): Line[] {
  const reasons = [...new Set(rows.map(({ reason }) => reason))];
  const idsOf = (reason: string) => rows.filter(row => row.reason === reason).map(({ id }) => id);
  return part(
    'Not applicable',
    reasons.map(reason => [[MARGIN, say(`${reason}: `, 'dim'), say(idsOf(reason).join(', '))]]),
  );
}

/** Operations that are named of a large toolset. */
const MOST_NAMES = 20;

/** Operations that rules which did not apply may be about. */
function uncalledLines(names: readonly string[]): Line[] {
  if (names.length === 0) return [];
  const how = '; use --operation <name> to call one';
  return [[say('Not called: ', 'dim'), ...quote(firstFew(names, MOST_NAMES)), say(how, 'dim')], []];
}

/** Whether a part of some message is shown. */
function hasMessages({ checks, cases }: Conformance): boolean {
  const shown: readonly Standing[] = ['failed', 'warned', 'could-not-run', 'expected'];
  return (
    checks.some(({ standing, events }) => events.length > 0 && shown.includes(standing)) ||
    cases.some(({ status, events }) => events.length > 0 && status !== 'pass')
  );
}

const LONGEST_ID = Math.max(...REQUIREMENT_IDS.map(({ length }) => length));

const levelWord = (level: string) => (level === 'none' ? 'open' : level);

/** A rule on one line, in columns. */
export function ruleLine(id: RequirementId): Line {
  const { level, side, statement } = RULES[id];
  return [
    say(id.padEnd(LONGEST_ID), 'title'),
    say(`  ${levelWord(level).padEnd(6)}  ${side.padEnd(7)}  `, 'gutter'),
    say(statement),
  ];
}

/** A rule whole: what it asks, its source, what a violation counts, and when there is nothing to see. */
export function specLines(id: RequirementId): Line[] {
  const rule = RULES[id];
  const { level, side, statement, advice, source } = rule;
  const labelled = (label: string, text: string): Line => [say(`  ${label.padEnd(13)}`, 'gutter'), say(text)];
  return [
    [say(id, 'title'), say(`  ${levelWord(level)}  ${side}`, 'dim')],
    [MARGIN, say(`The ${side} ${statement}.`)],
    labelled(
      'from',
      source.page === 'public specification' ? `the ${source.page}` : `the page ${source.page}`,
    ),
    ...(source.words === undefined ? [] : [labelled('quote', `“${source.words}”`)]),
    ...('unobservable' in rule ? [labelled('not tested', rule.unobservable)] : []),
    labelled('fix', advice),
    ...('observe' in rule
      ? [
          labelled('violation', violationText(rule)),
          labelled('not observed', rule.absent),
          ...(rule.masks?.length ? [labelled('masks', rule.masks.join(', '))] : []),
        ]
      : []),
  ];
}

function violationText({ level, failsWhere }: ObservableRule): string {
  if (level === 'MUST') return 'a failure';
  return `a warning; with --strict${failsWhere === undefined ? '' : `, or where ${failsWhere},`} a failure`;
}

/** Characters of a foreign id; none of ours is longer. */
const LONGEST = 200;

/** A run without secrets: rules quote what was on the wire (threats, row 25). */
export function shareableRun(run: Conformance, redactor: Redactor): Conformance {
  const clean = (text: string) => redactor.text(text);
  const cleanName = (name: string | null) => (name === null ? null : cut(clean(name), LONGEST));
  const cleanRow = <T extends Pick<Row, 'reason' | 'reasonLines' | 'calls'>>(row: T): T => ({
    ...row,
    reason: clean(row.reason),
    ...(row.reasonLines && { reasonLines: row.reasonLines.map(clean) }),
    ...(row.calls && {
      calls: row.calls.map(call => ({
        ...call,
        operation: cleanName(call.operation),
        id: cleanName(call.id),
      })),
    }),
  });
  return {
    ...run,
    checks: run.checks.map(({ expected, actual, ...row }) => ({
      ...cleanRow(row),
      ...(expected !== undefined && { expected: clean(expected) }),
      ...(actual !== undefined && { actual: clean(actual) }),
    })),
    idle: run.idle.map(each => ({ ...each, why: clean(each.why) })),
    cases: run.cases.map(cleanRow),
    gaps: run.gaps.map(each => ({ ...each, reason: clean(each.reason) })),
  };
}

/** What is asked of files only: a live session has the whole `auth_url`, or no user could visit it. */
const OF_FILES: ReadonlySet<RequirementId> = new Set(['RT-OAUTH']);

const NOTHING: ReadonlySet<RequirementId> = new Set();

/** The problems of a call: in lines, and how many requirements were violated, how many of those a MUST. */
export interface Judgement {
  readonly lines: readonly Line[];
  readonly broken: number;
  readonly musts: number;
}

/**
 * The problems of a call by the requirements of both sides, without secrets: why the result is missing, then failures with their proof.
 * @param events that concern it
 * @param witness who saw them, and whether they are from a file
 * @param isUnvalidated the user had it sent as it is: what that violates is a note, not a fault of this program
 */
export async function judgedLines(
  events: readonly Event[],
  exchange: Exchange,
  redactor: Redactor,
  { observer, isSaved }: Pick<CallLog, 'observer' | 'isSaved'>,
  isUnvalidated = false,
): Promise<Judgement> {
  const { checks } = await checkTranscript(events, { observer, skip: isSaved ? NOTHING : OF_FILES });
  const isWanted = ({ id, status }: Check) =>
    isUnvalidated && id === 'RT-ARGS' && (status === 'fail' || status === 'warn');
  const run = judgedRun(
    checks.filter(check => !isWanted(check)),
    ['tool', 'runtime'],
    redactor,
  );
  const history = new History();
  for (const event of toldOnce(events)) history.apply(event);
  const notes = [
    ...checks
      .filter(isWanted)
      .map(({ id, reason }) => `${reason}; sent without validation, as requested (${id})`),
    ...warningsBesides(run, warningsOf(history, exchange)),
  ];
  const failure = exchange.settled ? failureOf(exchange, history.untracked, 'workbench') : null;
  const broken = run.checks.filter(({ status }) => status === 'fail');
  return {
    lines: [
      ...failureLines(failure, redactor),
      ...runLines(run, { events, redactor }, notes, failure === null),
    ],
    broken: broken.length,
    musts: broken.filter(({ level }) => level === 'MUST').length,
  };
}

/**
 * The problems of a runtime with a call, as its tool saw it, without secrets. What the tool itself does it may do on purpose.
 * @param events of the call, and how its operation was discovered
 * @param warnings of the tool
 */
export async function judgedRuntimeLines(
  events: readonly Event[],
  warnings: readonly string[],
  redactor: Redactor,
): Promise<{ readonly lines: readonly Line[]; readonly broken: number }> {
  const { checks } = await checkTranscript(events, { sides: ['runtime'], observer: 'tool' });
  const run = judgedRun(checks, ['runtime'], redactor);
  const broken = run.checks.filter(({ status }) => status === 'fail').length;
  return { lines: runLines(run, { events, redactor }, warnings), broken };
}

/** Which call it is about is known here. */
function judgedRun(checks: readonly Check[], sides: readonly Side[], redactor: Redactor): Conformance {
  const rows = checks.map(({ calls, ...check }) => check);
  return shareableRun(conformanceOf(rows, [], { excuses: [], sides, isStrict: false }), redactor);
}

/** @param hasEnded without a failure */
function runLines(run: Conformance, record: WireRecord, notes: readonly string[], hasEnded = true): Line[] {
  const { verdict, summary } = run;
  const warnings = notes.map(text => record.redactor.text(text));
  const isFine = hasEnded && verdict === 'passed' && summary.warn === 0 && warnings.length === 0;
  const passed = `: ${countedNoun(summary.pass, 'requirement')} passed`;
  const fine: Line[] = [[say('✓ ', 'good'), say('no problems', 'title'), say(passed)], []];
  const around = { record, warnings, whole: 'the Wire tab', width: null };
  return [...(isFine ? fine : []), ...reportLines(run, around, false)];
}

function failureLines(failure: Failure | null, redactor: Redactor): Line[] {
  if (!failure) return [];
  const { message, hint } = failure;
  const clean = (text: string) => redactor.text(text);
  const shown = { message: clean(message), ...(hint !== undefined && { hint: clean(hint) }) };
  return [...problemLines([], shown, 'No result'), []];
}

/** Without those that a row of the same requirement says. */
function warningsBesides({ checks }: Conformance, warnings: readonly Warning[]): string[] {
  const said = new Set(
    checks.filter(({ status }) => status === 'fail' || status === 'warn').map(({ id }) => id),
  );
  return counted(warnings)
    .filter(({ id }) => id === undefined || !said.has(id))
    .map(warning => withoutFollow(warning).message);
}
