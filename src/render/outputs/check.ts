import type { Conformance, ExitCheck, Row, Standing } from '../../check/conformance.js';
import type { ObservableRule } from '../../check/rule.js';
import { RULES } from '../../check/rules/index.js';
import type { Event } from '../../events/events.js';
import { REQUIREMENT_IDS, type RequirementId } from '../../protocol/requirements.js';
import { groupBy } from '../../util/collections.js';
import { safeJson } from '../../util/safe-json.js';
import { elapsedMs } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import { evidenceLines, evidenceOf, type WireRecord } from '../check-evidence.js';
import {
  adviceOf,
  CASES,
  type Finding,
  findingsOf,
  hasEvidence,
  isOfExit,
  mergedFindings,
} from '../check-findings.js';
import { findingLines, type ReportInput, reportLines, uncalledOperations } from '../check-report.js';
import {
  callTexts,
  factsOf,
  idsOf,
  reasonWithRuns,
  STANDINGS,
  scenariosText,
  summaryText,
} from '../check-words.js';
import { type Line, lineText, say } from '../line.js';
import { createTheme } from '../terminal/theme.js';
import { printed } from '../terminal/wrap.js';
import { type AnnotationLevel, annotation } from './github.js';
import { inSeconds, type JunitTest, junitXml, placeOf } from './junit.js';
import { cell, safe, table } from './markdown.js';
import type { Reporter, Reporters } from './report-formats.js';

/** Writes a report of `check` in one format. */
type CheckFormat = Reporter<ReportInput>;

/** For people. Every line is safe to print (threats, row 24). Rows break between words, never within the id of a rule. */
const human: CheckFormat = (story, { level, isQuiet, width }) =>
  printed(reportLines(story, isQuiet, width), createTheme(level), width);

/** What has to be fixed first. */
const MOST_SEVERE: readonly Standing[] = ['failed', 'stale', 'flaky', 'could-not-run', 'warned', 'expected'];

/** In the order in which a report lists them; what passed or does not apply comes last. */
function bySeverity<Item extends Pick<Finding, 'standing'>>(items: readonly Item[]): readonly Item[] {
  const rankOf = ({ standing }: Item) => MOST_SEVERE.indexOf(standing) >>> 0;
  return items.toSorted((one, other) => rankOf(one) - rankOf(other));
}

/** The rule, if any, whose failure fails the run, and explains why this one could not run. */
function failedCauseOf({ cause }: Finding, { checks }: Conformance): readonly RequirementId[] {
  return checks.filter(({ id, standing }) => id === cause && standing === 'failed').map(({ id }) => id);
}

/** Workflow commands of GitHub Actions: an annotation for each problem, and a summary. */
const github: CheckFormat = ({ target, run, record, warnings }) => {
  const findings = bySeverity(mergedFindings(run));
  const byCause = groupBy(findings, each => failedCauseOf(each, run));
  const lines = [
    ...findings.flatMap(each => {
      const level = each.about === 'idle' ? 'notice' : STANDINGS[each.standing].command;
      const isExplained = failedCauseOf(each, run).length > 0;
      return level && !isExplained ? [findingAnnotation(level, each, record)] : [];
    }),
    ...[...byCause].map(([cause, own]) =>
      annotation('notice', { title: `could not run because ${cause} failed` }, idsOf(own)),
    ),
    ...warnings.map(message => annotation('warning', { title: 'protocol-cli check' }, message)),
    annotation('notice', { title: `check ${target}: ${run.verdict}` }, wholeSummary(run)),
  ];
  return lines.join('');
};

/** As {@link summaryText}, after the number of calls without a result. */
function wholeSummary(run: Conformance): string {
  return run.missingResults === null ? summaryText(run) : `${run.missingResults} · ${summaryText(run)}`;
}

function findingAnnotation(level: AnnotationLevel, finding: Finding, record: WireRecord): string {
  const { title, place = '', reasons, advice, about, standing } = finding;
  const [first, ...more] = reasons;
  const message = [
    about === 'case' || about === 'gap' ? `${place}: ${first}` : first,
    ...more,
    ...factsOf(finding, record.file).map(([label, text]) =>
      label === '' ? `  ${text}` : `${label}: ${text}`,
    ),
    ...(advice === undefined ? [] : [`to do: ${advice}`]),
    ...(hasEvidence(standing) ? evidenceLines(finding, record).map(each => lineText(each).trimEnd()) : []),
  ];
  return annotation(level, { ...placeOf(place), title }, message.join('\n'));
}

/** One object, as in fixtures/check-report.schema.json: a row for each rule and each case. */
const json: CheckFormat = ({ program, target, run, record, warnings }) => {
  const { verdict, summary, cases, gaps, idle, scenarios, exit } = run;
  const { events } = record;
  const report = {
    program,
    target,
    verdict,
    durationMs: durationOf(record),
    ...(exit && { exit: exitReport(exit) }),
    checks: run.checks.map(row => rowReport(row, record, adviceOf(row))),
    cases: cases.map(({ reasonLines: _, ...each }) => each),
    gaps,
    idleExpectedFailures: idle,
    probes: probeTimes(events),
    ...(scenarios.length > 0 && { scenarios }),
    notCalled: uncalledOperations(events),
    warnings,
    summary,
  };
  return `${safeJson(report, 2)}\n`;
};

/** Null where nothing can be repeated. */
const IS_REPEATED = {
  repeated: true,
  'not-repeated': false,
  recorded: null,
  refused: null,
} as const satisfies Record<ExitCheck['proof']['kind'], boolean | null>;

function exitReport({ message, calls, cause, proof }: ExitCheck): object {
  return {
    message,
    output: proof.kind === 'refused' ? null : proof.output,
    returned: proof.kind === 'refused' ? proof.returned : null,
    calls,
    cause,
    isRepeated: IS_REPEATED[proof.kind],
    repeats: 'repeats' in proof ? proof.repeats : 0,
  };
}

function rowReport(
  { expectedFailure, spots = [], reasonLines: _, advice: _own, ...row }: Row,
  record: WireRecord,
  advice: string | undefined,
): object {
  const { id, standing, events, runs } = row;
  const { reason, place } = expectedFailure ?? {};
  const { statement } = RULES[id];
  return {
    ...row,
    statement,
    ...(advice !== undefined && { advice }),
    ...(expectedFailure && { expectedFailure: { reason, place } }),
    ...(hasEvidence(standing) && {
      evidence: evidenceOf({ events, spots, ...(runs && { runs }) }, record).shown,
    }),
  };
}

function durationOf({ events, repeats = [] }: WireRecord): number {
  return [events, ...repeats].map(lastAt).reduce((sum, ms) => sum + ms, 0);
}

/** The time of the last event. */
function lastAt(events: readonly Event[]): number {
  return events.reduce((latest, { at }) => Math.max(latest, at), 0);
}

/** The probes of a check in planned order, with the time from their first call to the last event of their calls. */
function probeTimes(events: readonly Event[]) {
  const plans = new Map<string, Map<string, number>>();
  const ends = new Map<string, number>();
  for (const { calls = [], at, ...event } of events) {
    for (const key of calls) ends.set(key, at);
    if (event.kind !== 'planned' || event.by !== 'probe') continue;
    const begun = plans.get(event.plan) ?? new Map<string, number>();
    for (const key of calls) begun.set(key, at);
    plans.set(event.plan, begun);
  }
  return [...plans].map(([id, begun]) => {
    let [first, last] = [Number.POSITIVE_INFINITY, 0];
    for (const [key, at] of begun) {
      first = Math.min(first, at);
      last = Math.max(last, ends.get(key) ?? at);
    }
    return { id, calls: begun.size, ms: begun.size === 0 ? null : elapsedMs(last, first) };
  });
}

const SUITE = 'check';

const SUITES = { exit: 'server', tool: 'tool', runtime: 'runtime', case: 'cases', gap: 'gaps' } as const;

/** JUnit XML: a suite for the exit of a server, one for each side, one for the cases, and one for gaps. */
const junit: CheckFormat = ({ target, run, record, warnings }) => {
  const msOf = timesIn(record.events);
  const findings = bySeverity(findingsOf(run));
  const suites = Object.entries(SUITES).map(([about, name]) => {
    const own = findings.filter(each => each.about === about);
    return {
      name: `${SUITE}.${name}`,
      seconds: inSeconds(msOf(own.flatMap(({ events }) => events))),
      tests: own.map(each => {
        const test = testOf(each, `${SUITE}.${name}`, inSeconds(msOf(each.events)), record);
        return failedCauseOf(each, run).length === 0 ? test : skipped(test);
      }),
    };
  });
  const idle = findings.filter(({ about }) => about === 'idle');
  const notes = [
    ...(run.missingResults === null ? [] : [run.missingResults]),
    ...warnings,
    ...idle.map(({ title, reasons }) => `${title}; ${reasons[0]}`),
  ].map(visibleLine);
  const [first, ...rest] = suites.filter(({ tests }) => tests.length > 0);
  const output = notes.length === 0 ? {} : { output: notes.join('\n') };
  const all = first ? [{ ...first, ...output }, ...rest] : [];
  return junitXml(`${SUITE} ${target}`, inSeconds(durationOf(record)), all);
};

function testOf(finding: Finding, classname: string, seconds: number, record: WireRecord): JunitTest {
  const { about, standing, name, kind: type, place, title, reasons } = finding;
  const isInFile = about === 'case' || about === 'gap';
  const test = { classname, name, seconds, ...(isInFile && place !== undefined && { place }) };
  const kind = STANDINGS[standing].ending;
  const text = () =>
    findingLines(finding, record)
      .map(each => lineText(each).trimEnd())
      .join('\n');
  const message = about === 'exit' ? title : reasonWithRuns(reasons[0] ?? '', finding.runs);
  if (kind) return { ...test, ending: { kind, type, message, text: text() } };
  return standing === 'warned' ? { ...test, output: text() } : test;
}

function skipped({ ending, ...test }: JunitTest): JunitTest {
  return { ...test, ...(ending && { ending: { ...ending, kind: 'skipped' } }) };
}

/** The total duration, in ms, of the calls and requests that events (by their `seq`) belong to. Overlapping times count once. */
function timesIn(events: readonly Event[]): (seqs: readonly number[]) => number {
  const spans = new Map<string, { from: number; to: number }>();
  const names = new Map<number, readonly string[]>();
  for (const event of events) {
    const ofLeg = 'leg' in event && event.leg !== undefined ? [`leg ${event.leg}`] : [];
    const own = event.calls?.length ? event.calls.map(key => `call ${key}`) : ofLeg;
    names.set(event.seq, own);
    for (const name of own) spans.set(name, { from: spans.get(name)?.from ?? event.at, to: event.at });
  }
  return seqs => {
    const concerned = new Set(seqs.flatMap(seq => names.get(seq) ?? []));
    const own = [...concerned].flatMap(name => spans.get(name) ?? []).sort((a, b) => a.from - b.from);
    let [sum, until] = [0, 0];
    for (const { from, to } of own) {
      sum += Math.max(0, to - Math.max(from, until));
      until = Math.max(until, to);
    }
    return sum;
  };
}

/** Markdown tables for a README or the summary of a CI job. */
const markdown: CheckFormat = ({ target, program, run, record, warnings }) => {
  const ofCalls = (calls: Row['calls']) =>
    calls ? ` (${safe(callTexts(calls, record.file).join(', '))})` : '';
  const isShown = (row: Row) => run.exit === null || !isOfExit(row);
  const rules = bySeverity(run.checks.filter(isShown)).map(row => {
    const { id, side, level, standing, reason, scenarios, expectedFailure, runs } = row;
    const { cause, calls } = row;
    const advice = adviceOf(row);
    const seen =
      expectedFailure && standing === 'expected'
        ? `${reason} (${expectedFailure.reason})`
        : reasonWithRuns(reason, runs);
    const asks = `the ${side} ${RULES[id].statement}`;
    const where = scenarios ? ` in ${safe(scenariosText(scenarios))}` : '';
    const which = cause ? '' : ofCalls(calls);
    const toDo = advice === undefined || cause ? '' : `<br>to do: ${safe(advice)}`;
    return [id, level, cell(asks), STANDINGS[standing].badge, cell(seen) + where + which + toDo];
  });
  const shownCases = run.cases.filter(({ byExit }) => run.exit === null || !byExit);
  const cases = shownCases.map(({ place, operation, status, reason, calls }) => [
    cell(place),
    cell(operation),
    STANDINGS[CASES[status]].badge,
    cell(reason) + ofCalls(calls),
  ]);
  const gaps = run.gaps.map(({ place, reason }) => [cell(place), cell(reason)]);
  const parts = [
    `**${run.verdict}** · ${cell(target)} · ${wholeSummary(run)} (${cell(program)})`,
    ...findingsOf(run).flatMap(each => (each.about === 'exit' ? [exitBlock(each, record)] : [])),
    table(['rule', 'level', 'asks', 'result', 'seen'], rules),
    table(['case', 'operation', 'result', 'seen'], cases),
    table(['place', 'incomplete recording; violations may be missed'], gaps),
    warnings.map(each => `- ⚠️ ${cell(each)}`).join('\n'),
    run.idle
      .map(({ id, place, why }) => `- ${cell(`${id} is expected to fail (${place}); it ${why}`)}`)
      .join('\n'),
  ];
  return `${parts.filter(Boolean).join('\n\n')}\n`;
};

/** The exit of a server, and its last output as a code block: an indented line stays code, whatever it contains. */
function exitBlock(finding: Finding, { file }: WireRecord): string {
  const { standing, title, reasons } = finding;
  const output = reasons.map(line => `    ${visibleLine(line)}`).join('\n');
  const facts = factsOf(finding, file).map(([label, text]) => `- ${label} ${safe(visibleLine(text))}`);
  return [`${STANDINGS[standing].badge}: ${cell(title)}`, output, facts.join('\n')].join('\n\n');
}

const LONGEST_ID = Math.max(...REQUIREMENT_IDS.map(({ length }) => length));

const levelWord = (level: string) => (level === 'none' ? 'open' : level);

function ruleLine(id: RequirementId): Line {
  const { level, side, statement } = RULES[id];
  return [
    say(id.padEnd(LONGEST_ID), 'title'),
    say(`  ${levelWord(level).padEnd(6)}  ${side.padEnd(7)}  `, 'gutter'),
    say(statement),
  ];
}

/** The rules, one per line or in full. */
export function ruleLines(ids: readonly RequirementId[], isFull: boolean): readonly Line[] {
  if (!isFull) return ids.map(ruleLine);
  return ids.flatMap((id, index) => [...(index === 0 ? [] : [[]]), ...specLines(id)]);
}

/** A rule in full: its statement, its source, what counts as a violation, and when it does not apply. */
function specLines(id: RequirementId): Line[] {
  const rule = RULES[id];
  const { level, side, statement, advice, source } = rule;
  const from = source.page === 'public specification' ? `the ${source.page}` : `the page ${source.page}`;
  const labelled = (label: string, text: string | undefined): Line[] =>
    text === undefined ? [] : [[say(`  ${label.padEnd(13)}`, 'gutter'), say(text)]];
  return [
    [say(id, 'title'), say(`  ${levelWord(level)}  ${side}`, 'dim')],
    [say('  ', 'gutter'), say(`The ${side} ${statement}.`)],
    ...labelled('from', from),
    ...labelled('quote', source.words && `“${source.words}”`),
    ...('unobservable' in rule ? labelled('not tested', rule.unobservable) : []),
    ...labelled('fix', advice),
    ...('observe' in rule
      ? [
          ...labelled('violation', violationText(rule)),
          ...labelled('not observed', rule.absent),
          ...labelled('masks', rule.masks?.join(', ') || undefined),
        ]
      : []),
  ];
}

function violationText({ level, failsWhere }: ObservableRule): string {
  if (level === 'MUST') return 'a failure';
  return `a warning; with --strict${failsWhere === undefined ? '' : `, or where ${failsWhere},`} a failure`;
}

/** The reports of `check`. */
export const CHECK_FORMATS: Reporters<ReportInput> = { human, json, junit, github, markdown };
