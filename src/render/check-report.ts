import type { CaseCheck } from '../check/cases.js';
import type { Conformance, Row, Standing, Verdict } from '../check/conformance.js';
import { notCalled } from '../check/evidence.js';
import type { ObservableRule } from '../check/rule.js';
import { RULES } from '../check/rules/all.js';
import { REQUIREMENT_IDS, type RequirementId } from '../protocol/requirements.js';
import { cut } from '../util/json-diagnosis.js';
import { firstFew } from '../util/json-layout.js';
import { cleanWords, type Redactor } from '../util/redact.js';
import { caseLines, caseName, gapLines, idleLines, rowLines, type WireRecord } from './check-requests.js';
import { type Line, quote, type Span, say } from './line.js';

const VERDICTS: Readonly<Record<Verdict, Span>> = {
  passed: say('✓ passed', 'good'),
  failed: say('✗ failed', 'bad'),
  incomplete: say('? incomplete', 'warn'),
};

const WORDS: readonly (readonly [Standing, string])[] = [
  ['passed', 'passed'],
  ['failed', 'failed'],
  ['stale', 'passed, but expected to fail'],
  ['could-not-run', 'could not run'],
  ['warned', 'with a warning'],
  ['expected', 'failed as expected'],
  ['not-applicable', 'not applicable'],
];

/** `✗ failed · 32 rules: 20 passed, 2 failed, 10 not applicable · 3 of 4 cases passed` */
function summaryLine(run: Conformance): Line {
  return [VERDICTS[run.verdict], say(' · ', 'gutter'), say(summaryText(run))];
}

/** The same without the verdict. */
export function summaryText({ checks, cases, gaps }: Conformance): string {
  const counts = WORDS.map(([standing, words]) => ({
    count: checks.filter(check => check.standing === standing).length,
    words,
  }));
  const rules = counts.filter(({ count }) => count > 0).map(({ count, words }) => `${count} ${words}`);
  const passing = cases.filter(({ status }) => status === 'pass').length;
  const ofCases = cases.length === 0 ? [] : [`${passing} of ${cases.length} cases passed`];
  const ofGaps =
    gaps.length === 0 ? [] : [`${gaps.length} ${gaps.length === 1 ? 'gap' : 'gaps'} in the recording`];
  const noun = checks.length === 1 ? 'rule' : 'rules';
  const ofRules = rules.length === 0 ? 'no rules' : `${checks.length} ${noun}: ${rules.join(', ')}`;
  return [ofRules, ...ofCases, ...ofGaps].join(' · ');
}

/** What there is to know besides the rows. */
export interface Around {
  readonly record: WireRecord;
  readonly warnings: readonly string[];
  readonly whole: string;
  /** Cells of a row, where there is a width; null where whoever draws the lines wraps them. */
  readonly width?: number | null | undefined;
}

/** Cells of a list of ids; wider ones are hard to read. */
const WIDEST = 96;
const MARGIN = '  ';

/** What a run came to, for a person: what is wrong first, then what is worth a word, then what is not known, and what is fine; the summary last. */
export function reportLines(
  run: Conformance,
  { record, warnings, whole, width = WIDEST }: Around,
  isQuiet: boolean,
): readonly Line[] {
  const room = width === null ? Number.POSITIVE_INFINITY : Math.min(width, WIDEST);
  const rows = (...standings: readonly Standing[]) =>
    run.checks.filter(row => standings.includes(row.standing));
  const told = (row: Row) => rowLines(row, record);
  const cases = (status: CaseCheck['status']) =>
    run.cases.filter(each => each.status === status).map(each => caseLines(each, record));
  const wrong = [...rows('failed', 'stale').map(told), ...cases('fail')];
  const parts = [
    airyPart('Failed', wrong),
    airyPart('Warnings', rows('warned').map(told)),
    part(
      'Notes',
      warnings.map(message => [[say(MARGIN, 'gutter'), ...quote(message, 'warn')]]),
    ),
    airyPart('Could not run', [...rows('could-not-run').map(told), ...cases('could-not-run')]),
    part('Incomplete recording; violations may be missed', run.gaps.map(gapLines)),
    airyPart('Expected failures', [...rows('expected').map(told), ...run.idle.map(idleLines)]),
    ...(isQuiet ? [] : [passedPart(run, rows('passed'), room), absentPart(rows('not-applicable'))]),
  ];
  return [
    ...parts.flat(),
    ...(isQuiet ? [] : uncalledLines(notCalled(record.events))),
    ...(isProved(run) ? wholeLines(whole) : []),
    summaryLine(run),
  ];
}

/** Of a large toolset the first. */
const MOST_NAMES = 20;

/** What rules that did not apply may have been about. */
function uncalledLines(names: readonly string[]): Line[] {
  if (names.length === 0) return [];
  const how = '; use --operation <name> to call one';
  return [[say('Not called: ', 'dim'), ...quote(firstFew(names, MOST_NAMES)), say(how, 'dim')], []];
}

/** Whether a part of some message is shown. */
function isProved({ checks, cases }: Conformance): boolean {
  const isShown = ({ standing, events }: Row) =>
    events.length > 0 && ['failed', 'warned', 'could-not-run', 'expected'].includes(standing);
  return checks.some(isShown) || cases.some(({ status, events }) => status !== 'pass' && events.length > 0);
}

function wholeLines(whole: string): Line[] {
  return [[say('Messages are shortened; full messages: ', 'dim'), ...quote(whole, 'dim')], []];
}

/** A heading, what stands below it, and an empty line; nothing where there is nothing below. */
function part(title: string, items: readonly (readonly Line[])[]): Line[] {
  return items.length === 0 ? [] : [[say(title, 'title')], ...items.flat(), []];
}

/** The same, with air between what takes several lines each. */
function airyPart(title: string, items: readonly (readonly Line[])[]): Line[] {
  return part(
    title,
    items.map((item, index) => (index === 0 ? item : [[], ...item])),
  );
}

function passedPart({ cases }: Conformance, rows: readonly Row[], width: number): Line[] {
  const passing = cases.filter(({ status }) => status === 'pass');
  return part(
    'Passed',
    [
      idLines(
        rows.map(({ id }) => id),
        width,
      ),
      ...rows.filter(({ isRemarkable }) => isRemarkable).map(remarkLines),
      passing.map(each => [say(`${MARGIN}case `, 'gutter'), ...caseName(each)]),
    ].filter(({ length }) => length > 0),
  );
}

/** What passes and yet is worth a word. */
function remarkLines({ id, reason }: Row): Line[] {
  return [[say(MARGIN, 'gutter'), say(`${id}: `), ...quote(reason, 'dim')]];
}

/** By their reason, since many have the same. */
function absentPart(rows: readonly Row[]): Line[] {
  const reasons = [...new Set(rows.map(({ reason }) => reason))];
  return part(
    'Not applicable',
    reasons.map(reason => {
      const ids = rows.filter(row => row.reason === reason).map(({ id }) => id);
      return [[say(MARGIN, 'gutter'), say(`${reason}: `, 'dim'), say(ids.join(', '))]];
    }),
  );
}

/** Ids as they fit on lines. */
function idLines(ids: readonly string[], width: number): Line[] {
  const rows: string[] = [];
  for (const id of ids) {
    const last = rows.at(-1);
    if (last !== undefined && MARGIN.length + last.length + id.length + 3 <= width)
      rows[rows.length - 1] = `${last}, ${id}`;
    else rows.push(id);
  }
  return rows.map(row => [say(MARGIN, 'gutter'), say(row)]);
}

/** A rule on one line, in columns. */
export function ruleLine(id: RequirementId): Line {
  const { level, side, statement } = RULES[id];
  return [
    say(id.padEnd(LONGEST), 'title'),
    say(`  ${levelWord(level).padEnd(6)}  ${side.padEnd(7)}  `, 'gutter'),
    say(statement),
  ];
}

const LONGEST = Math.max(...REQUIREMENT_IDS.map(({ length }) => length));

/** A rule whole: what it asks, of whom, where that is from, and when there is nothing to see. */
export function specLines(id: RequirementId): Line[] {
  const rule = RULES[id];
  const { level, side, statement, advice } = rule;
  const { page, words } = rule.source;
  return [
    [say(id, 'title'), say(`  ${levelWord(level)}  ${side}`, 'dim')],
    [say('  ', 'gutter'), say(`The ${side} ${statement}.`)],
    [
      say('  from         ', 'gutter'),
      say(page === 'public specification' ? `the ${page}` : `the page ${page}`),
    ],
    ...(words === undefined ? [] : [[say('  quote        ', 'gutter'), say(`“${words}”`)]]),
    ...('unobservable' in rule ? [[say('  not tested   ', 'gutter'), say(rule.unobservable)]] : []),
    [say('  fix          ', 'gutter'), say(advice)],
    ...('observe' in rule ? ruleDetails(rule) : []),
  ];
}

/** A breach of each level, as it counts. */
function ruleDetails({ level, masks = [], absent, failsWhere }: ObservableRule): Line[] {
  const warning = `a warning; with --strict${failsWhere === undefined ? '' : `, or where ${failsWhere},`} a failure`;
  const breach = level === 'MUST' ? 'a failure' : warning;
  return [
    [say('  violation    ', 'gutter'), say(breach)],
    [say('  not observed ', 'gutter'), say(absent)],
    ...(masks.length > 0 ? [[say('  masks        ', 'gutter'), say(masks.join(', '))]] : []),
  ];
}

function levelWord(level: string): string {
  return level === 'none' ? 'open' : level;
}

/** Characters of a name: ids are foreign, and none of ours is longer. */
const SHAREABLE_RUN_LONGEST = 200;

/** A run as it may leave the machine: rules quote what was on the wire (threats, row 25). */
export function shareableRun(run: Conformance, redactor: Redactor): Conformance {
  const clean = (text: string) => cleanWords(redactor, text);
  return {
    ...run,
    checks: run.checks.map(row => ({
      ...row,
      ...reasonOf(row, clean),
      ...differenceOf(row, clean),
      ...callsOf(row, clean),
    })),
    idle: run.idle.map(each => ({ ...each, why: clean(each.why) })),
    cases: run.cases.map(each => ({ ...each, ...reasonOf(each, clean), ...callsOf(each, clean) })),
    gaps: run.gaps.map(each => ({ ...each, reason: clean(each.reason) })),
  };
}

function reasonOf(
  { reason, reasonLines }: Pick<Row, 'reason' | 'reasonLines'>,
  clean: (text: string) => string,
) {
  return { reason: clean(reason), ...(reasonLines && { reasonLines: reasonLines.map(clean) }) };
}

function callsOf({ calls }: Pick<Row, 'calls'>, clean: (text: string) => string) {
  const told = (name: string | null) => (name === null ? null : cut(clean(name), SHAREABLE_RUN_LONGEST));
  return (
    calls && {
      calls: calls.map(call => ({
        ...call,
        operation: told(call.operation),
        id: told(call.id),
      })),
    }
  );
}

function differenceOf({ expected, actual }: Row, clean: (text: string) => string) {
  return {
    ...(expected !== undefined && { expected: clean(expected) }),
    ...(actual !== undefined && { actual: clean(actual) }),
  };
}
