import type { Conformance, Row, Standing } from '../check/conformance.js';
import type { CheckStatus } from '../check/report.js';
import { firstWithRest, joinFirst } from '../util/text.js';
import { visibleLine } from '../util/visible.js';
import type { Finding } from './check-findings.js';
import { MARKS, pluralize, type Span, say } from './line.js';
import { BADGES } from './outputs/markdown.js';

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

/** Maximum number of failed rules that a summary names. */
const MAX_FAILED = 5;

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
