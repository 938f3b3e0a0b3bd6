import { uncalledOperations } from '../check/evidence.js';
import {
  type CheckReport,
  type CheckStatus,
  type Conformance,
  checkTranscript,
  conformanceOf,
  type Row,
  RULES,
  type Standing,
  type Verdict,
} from '../check/judge.js';
import type { Event } from '../events/events.js';
import type { Exchange } from '../events/exchange.js';
import { type CallLog, History } from '../events/history.js';
import { eventsOnSide } from '../events/round-trips.js';
import type { RequirementId, Side, Warning } from '../protocol/requirements.js';
import { groupBy } from '../util/collections.js';
import type { Redactor } from '../util/redact.js';
import { firstWithRest, joinFirst, shellWord } from '../util/text.js';
import { visibleLine } from '../util/visible.js';
import { evidenceLines, shareableRun, type WireRecord } from './check-evidence.js';
import { type Finding, hasEvidence, mergedFindings } from './check-findings.js';
import { failureOf, problemLines } from './failure.js';
import { type Line, MARKS, pluralize, quote, type Span, say } from './line.js';
import { BADGES } from './outputs/markdown.js';
import type { Trouble } from './outputs/trouble.js';
import { mergeWarnings, warningsOf, withoutFollow } from './warnings.js';

interface StandingText {
  readonly mark: Span;
  readonly words: string;
  /** In Markdown. */
  readonly badge: string;
  /** The workflow command of GitHub Actions; what fails the run is an error. */
  readonly command?: 'error' | 'warning';
  /** The element of JUnit. */
  readonly ending?: 'failure' | 'error' | 'skipped';
}

/** In the order of the summary. */
export const STANDINGS: Readonly<Record<Standing, StandingText>> = {
  passed: { mark: MARKS.done, words: 'passed', badge: BADGES.passed },
  failed: { mark: MARKS.failed, words: 'failed', badge: BADGES.failed, command: 'error', ending: 'failure' },
  stale: {
    mark: MARKS.failed,
    words: 'passed, but expected to fail',
    command: 'error',
    ending: 'failure',
    badge: '❌ passes but is expected to fail',
  },
  flaky: {
    mark: MARKS.asking,
    words: 'flaky',
    command: 'error',
    ending: 'error',
    badge: '❔ flaky',
  },
  'could-not-run': {
    mark: MARKS.asking,
    words: 'could not run',
    command: 'error',
    ending: 'error',
    badge: '❔ could not run',
  },
  warned: { mark: MARKS.note, words: 'with a warning', badge: '⚠️ warning', command: 'warning' },
  expected: {
    mark: say('~', 'dim'),
    words: 'failed as expected',
    ending: 'skipped',
    badge: '➖ fails as expected',
  },
  'not-applicable': {
    mark: say('·', 'dim'),
    words: 'not applicable',
    ending: 'skipped',
    badge: '– not applicable',
  },
};

/** `32 rules: 20 passed, 2 failed (TOOL-ACK, TOOL-ID), 10 not applicable · 3 of 4 cases passed` */
export function summaryText({ checks, cases, gaps, scenarios }: Conformance): string {
  const counts = Object.entries(STANDINGS).flatMap(([standing, { words }]) => {
    const ids = checks.filter(check => check.standing === standing).map(({ id }) => id);
    const names = standing === 'failed' ? ` (${joinFirst(ids, MAX_FAILED)})` : '';
    return ids.length > 0 ? [`${ids.length} ${words}${names}`] : [];
  });
  const passing = cases.filter(({ status }) => status === 'pass').length;
  return [
    ...(scenarios.length === 0 ? [] : [scenarioCount(scenarios)]),
    counts.length === 0 ? 'no rules' : `${pluralize(checks.length, 'rule')}: ${counts.join(', ')}`,
    ...(cases.length === 0 ? [] : [`${passing} of ${cases.length} cases passed`]),
    ...(gaps.length === 0 ? [] : [`${pluralize(gaps.length, 'gap')} in the recording`]),
  ].join(' · ');
}

/** `48 scenarios`, `48 scenarios, 2 not applicable` */
function scenarioCount(scenarios: Conformance['scenarios']): string {
  const skipped = scenarios.filter(({ unsupported }) => unsupported).length;
  const count = pluralize(scenarios.length, 'scenario');
  return skipped === 0 ? count : `${count}, ${skipped} not applicable`;
}

/** Maximum number of failed rules that a summary names. */
const MAX_FAILED = 5;

/** A finding in full: the requirement, what happened instead, and the messages that prove it. */
export function findingLines(finding: Finding, record: WireRecord): readonly Line[] {
  const { standing, heading, reasons, advice } = finding;
  const labelled = (label: string, words: Line): Line => [say(label.padEnd(10), 'gutter'), ...words];
  const details = [
    ...reasons.map(text => quote(text)),
    ...factsOf(finding, record.file).map(([label, text]) => labelled(label, quote(text))),
    ...(hasEvidence(standing) ? evidenceLines(finding, record) : []),
    ...(advice === undefined ? [] : [labelled('to do', [say(advice)])]),
  ];
  return [
    [STANDINGS[standing].mark, say(' ', 'gutter'), ...heading],
    ...details.map(each => [say('    ', 'gutter'), ...each]),
  ];
}

/** The rules of findings. */
export function idsOf(findings: readonly Finding[]): string {
  return findings.flatMap(({ id }) => id ?? []).join(', ');
}

/** Maximum number of scenarios that a finding names. */
const MAX_SCENARIOS = 8;

export function scenariosText(scenarios: readonly string[]): string {
  return joinFirst(scenarios, MAX_SCENARIOS);
}

/** Maximum number of calls that a finding names. */
const MAX_CALLS = 3;

/** How to find calls: `edit_file · call_8f3a1b · run.ndjson:9`. Safe to print. */
export function callTexts(calls: NonNullable<Row['calls']>, file: string | undefined): readonly string[] {
  const texts = calls.map(({ operation, id, line: at }) => {
    const place = at === undefined ? [] : [file === undefined ? `line ${at}` : `${file}:${at}`];
    return visibleLine([operation ?? 'no operation', id ?? 'no id', ...place].join(' · '));
  });
  return firstWithRest(texts, MAX_CALLS);
}

/** How often a rule failed: `3 of 3 failed`, `flaky, 1 of 3 failed`. */
function runsText({ failed, of, why }: NonNullable<Row['runs']>): string {
  if (why !== undefined) return `1 observation; ${why}`;
  const times = `${failed} of ${of} failed`;
  return failed === of ? times : `flaky, ${times}`;
}

/** A reason on one line: `a second, different tool_result came (3 of 3 failed)`. */
export function reasonWithRuns(reason: string, runs: Row['runs']): string {
  return runs ? `${reason} (${runsText(runs)})` : reason;
}

/** @returns also the transcripts of a flaky rule */
function runFacts(runs: NonNullable<Row['runs']>): (readonly [label: string, text: string])[] {
  const { transcript, other } = runs;
  return [
    ['runs', runsText(runs)],
    ...(transcript === undefined ? [] : [['failing', transcript] as const]),
    ...(other?.transcript === undefined ? [] : [[OTHER_LABELS[other.status], other.transcript] as const]),
  ];
}

const OTHER_LABELS: Readonly<Record<CheckStatus, string>> = {
  pass: 'passing',
  warn: 'passing',
  fail: 'failing',
  flaky: 'failing',
  'not-applicable': 'other',
  'could-not-run': 'other',
};

/** What a finding names besides its reasons, with labels. Untrusted. */
export function factsOf(
  { scenarios = [], calls = [], expected, actual, runs, notRun, facts = [] }: Finding,
  file: string | undefined,
): readonly (readonly [label: string, text: string])[] {
  const nounOf = (noun: string, { length }: readonly unknown[]) => (length === 1 ? noun : `${noun}s`);
  return [
    ...(runs ? runFacts(runs) : []),
    ...(scenarios.length === 0 ? [] : [[nounOf('scenario', scenarios), scenariosText(scenarios)] as const]),
    ...callTexts(calls, file).map((text, index) => [index === 0 ? nounOf('call', calls) : '', text] as const),
    ...(expected === undefined ? [] : [['expected', expected] as const]),
    ...(actual === undefined ? [] : [['actual', actual] as const]),
    ...facts,
    ...(notRun === undefined ? [] : [['not run', notRun] as const]),
  ];
}

const VERDICTS: Readonly<Record<Verdict, Span>> = {
  passed: say('✓ passed', 'good'),
  failed: say('✗ failed', 'bad'),
  incomplete: say('? incomplete', 'warn'),
};

/** The contents of a report. It has no secrets, but its texts are untrusted and not yet safe to print. */
export interface ReportInput {
  /** The URL or the file that was checked. */
  readonly target: string;
  readonly program: string;
  readonly run: Conformance;
  readonly warnings: readonly string[];
  readonly record: WireRecord;
  /** How to see the full messages, of which a report shows only a part. */
  readonly whole: string;
}

/** Maximum width of a list of ids, in cells; wider lists are hard to read. */
const MAX_WIDTH = 96;

const MARGIN = say('  ', 'gutter');

/** The report for people: violations first, then warnings, unknown results and passes; the summary last. @param width of a row in cells */
export function reportLines(report: ReportInput, isQuiet: boolean, width = MAX_WIDTH): readonly Line[] {
  const { target, run, record, whole } = report;
  const uncalled = uncalledOperations(record.events);
  const isUnseen = isNoneCalled(record.events, uncalled) ? isWithoutEvidence : () => false;
  const all = mergedFindings(run);
  const findings = all.filter(each => !isUnseen(each));
  const exit = findings.find(({ about }) => about === 'exit');
  const rest = [
    ...passedPart(run.checks, findings, width),
    ...absentPart(run.checks, run.scenarios),
    ...uncalledLines(uncalled),
  ];
  return [
    [say('check ', 'gutter'), ...quote(target)],
    ...(exit ? [[], ...findingLines(isQuiet ? { ...exit, notRun: undefined } : exit, record)] : []),
    ...(run.missingResults === null ? [] : [[say(run.missingResults, 'warn')]]),
    [],
    ...problemParts(findings, report),
    ...unseenPart(all.filter(isUnseen), uncalled),
    ...(isQuiet ? [] : rest),
    ...wholeLines(findings, whole),
    [VERDICTS[run.verdict], say(' · ', 'gutter'), say(summaryText(run))],
  ];
}

/** Everything that did not pass, in the order of severity, each part with its heading. @param own a side whose violations come last */
function problemParts(
  findings: readonly Finding[],
  { record, warnings }: Pick<ReportInput, 'record' | 'warnings'>,
  own: Side | null = null,
): Line[] {
  const among =
    (...standings: readonly Standing[]) =>
    ({ about, standing }: Finding) =>
      standings.includes(standing) && about !== 'gap' && about !== 'exit' && about !== own;
  const list = (title: string, isWanted: (finding: Finding) => boolean, between: readonly Line[] = [[]]) => {
    const items = findings.filter(isWanted).map(each => findingLines(each, record));
    return part(title, items, between);
  };
  const unrun = findings.filter(each => among('could-not-run')(each) && !each.cause);
  const byCause = groupBy(findings, ({ cause }) => (cause ? [cause] : []));
  const explained = [...byCause].map(([cause, own]) => {
    return [[MARGIN, say(`${cause} failed: `, 'dim'), say(idsOf(own))]];
  });
  const notes = warnings.map(message => [[MARGIN, ...quote(message, 'warn')]]);
  const recorded = `Violations by the ${own}, which recorded this call`;
  return [
    ...list('Failed', among('failed', 'stale')),
    ...list('Flaky; neither passed nor failed', among('flaky')),
    ...list('Warnings', among('warned')),
    ...part('Notes', notes),
    ...part(
      'Could not run',
      withSharedReasons(unrun).map(each => findingLines(each, record)),
      [[]],
    ),
    ...part('Could not run, since another rule failed', explained),
    ...list('Incomplete recording; violations may be missed', ({ about }) => about === 'gap', []),
    ...list('Expected failures', ({ about, standing }) => standing === 'expected' || about === 'idle'),
    ...list(recorded, ({ about, standing }) => about === own && hasEvidence(standing)),
  ];
}

/** Merges the rules that could not run for one reason. */
function withSharedReasons(findings: readonly Finding[]): readonly Finding[] {
  const byReason = groupBy(findings, ({ about, calls, name, reasons }) => [
    calls || about === 'case' ? name : reasons.join('\n'),
  ]);
  return [...byReason.values()].flatMap(([first, ...others]) => {
    if (!first || others.length === 0) return first ?? [];
    const all = [first, ...others];
    return {
      ...first,
      heading: [say(idsOf(all), 'title')],
      scenarios: [...new Set(all.flatMap(({ scenarios = [] }) => scenarios))],
    };
  });
}

/** How to see the messages that findings quote in part. */
function wholeLines(findings: readonly Finding[], whole: string): Line[] {
  const hasMessages = findings.some(({ standing, events }) => hasEvidence(standing) && events.length > 0);
  if (!hasMessages) return [];
  return [[say('Messages are shortened; full messages: ', 'dim'), ...quote(whole, 'dim')], []];
}

/** A heading, its items, and an empty line; nothing without items. */
function part(title: string, items: readonly (readonly Line[])[], between: readonly Line[] = []): Line[] {
  if (items.length === 0) return [];
  return [
    [say(title, 'title')],
    ...items.flatMap((item, index) => (index === 0 ? item : [...between, ...item])),
    [],
  ];
}

function passedPart(checks: readonly Row[], findings: readonly Finding[], width: number): Line[] {
  const maxWidth = width === Number.POSITIVE_INFINITY ? width : Math.min(width, MAX_WIDTH);
  const passed = checks.filter(({ standing }) => standing === 'passed');
  const rows: string[] = [];
  for (const { id } of passed) {
    const last = rows.at(-1);
    if (last !== undefined && last.length + id.length + 5 <= maxWidth)
      rows[rows.length - 1] = `${last}, ${id}`;
    else rows.push(id);
  }
  const lines: Line[] = [
    ...rows.map(row => [MARGIN, say(row)]),
    ...passed
      .filter(({ isRemarkable }) => isRemarkable)
      .map(({ id, reason }) => [MARGIN, say(`${id}: `), ...quote(reason, 'dim')]),
    ...findings
      .filter(({ about, standing }) => about === 'case' && standing === 'passed')
      .map(({ heading }) => [say('  case ', 'gutter'), ...heading]),
  ];
  return part('Passed', lines.length > 0 ? [lines] : []);
}

/** Groups the rules that did not apply by reason; most rules do not apply to a single scenario. */
function absentPart(checks: readonly Row[], scenarios: Conformance['scenarios'] = []): Line[] {
  const rows = checks.filter(({ standing }) => standing === 'not-applicable');
  const skipped = groupBy(scenarios, ({ unsupported = [] }) => unsupported);
  const skippedLines = [...skipped].map(([ability, own]) => [
    [
      MARGIN,
      say(`scenarios that need ${ability}, which the driver does not support: `, 'dim'),
      say(scenariosText(own.map(({ id }) => id))),
    ],
  ]);
  if (scenarios.length === 1) {
    const count = [[MARGIN, say(`${rows.length} rules to this scenario`, 'dim')]];
    return part('Not applicable', [count, ...skippedLines]);
  }
  const whyOf = ({ id, reason }: Row) =>
    'unobservable' in RULES[id]
      ? reason.replace(/[:,].*/, '')
      : reason.replace(/^(not visible in HTTP traffic).*/, '$1');
  const absent = [...groupBy(rows, row => [whyOf(row)])].map(([why, own]) => [
    [MARGIN, say(`${why}: `, 'dim'), say(own.map(({ id }) => id).join(', '))],
  ]);
  return part('Not applicable', [...absent, ...skippedLines]);
}

/** Whether a check called no operation of the toolset. */
function isNoneCalled(events: readonly Event[], uncalled: readonly string[]): boolean {
  const offered = new Set(events.flatMap(event => (event.kind === 'loaded' ? event.operations : [])));
  return uncalled.length > 0 && uncalled.length === offered.size;
}

function isWithoutEvidence({ about, standing, cause, events }: Finding): boolean {
  return about === 'tool' && standing === 'could-not-run' && cause === undefined && events.length === 0;
}

const REPEATABLE = ', if it may be called repeatedly.';

/** Rules that only calls of operations of the toolset can show. */
function unseenPart(unseen: readonly Finding[], [name = '']: readonly string[]): Line[] {
  if (unseen.length === 0) return [];
  const option = `--operation ${shellWord(name)}`;
  return part('Could not run, since no operation of the toolset was called', [
    [[MARGIN, say(idsOf(unseen))]],
    [[MARGIN, say('to do     ', 'gutter'), say('Check again with '), ...quote(option), say(REPEATABLE)]],
  ]);
}

/** Maximum number of operations named. */
const MAX_NAMES = 20;

/** Names the operations that were not called: rules that did not apply may be about them. */
function uncalledLines(names: readonly string[]): Line[] {
  if (names.length === 0) return [];
  const how = '; use --operation <name> to call one';
  return [[say('Not called: ', 'dim'), ...quote(joinFirst(names, MAX_NAMES)), say(how, 'dim')], []];
}

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
  const isWanted = ({ id, status }: CheckReport['checks'][number]) =>
    isUnvalidated && id === 'RT-ARGS' && (status === 'fail' || status === 'warn');
  const history = new History();
  for (const event of eventsOnSide('tool-side', events)) history.apply(event);
  const rows = checks.filter(check => !isWanted(check));
  const faulty = new Set(
    rows.filter(({ status }) => status === 'fail' || status === 'warn').map(({ id }) => id),
  );
  // Skips warnings about a requirement that already has a row.
  const isNew = ({ id }: Warning) => id === undefined || !faulty.has(id);
  const notes = [
    ...checks
      .filter(isWanted)
      .map(({ id, reason }) => `${reason}; sent without validation, as requested (${id})`),
    ...mergeWarnings(warningsOf(history, exchange))
      .filter(isNew)
      .map(warning => withoutFollow(warning).message),
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
