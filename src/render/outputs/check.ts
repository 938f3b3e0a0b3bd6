import type { CaseCheck } from '../../check/cases.js';
import type { IdleExcuse, Row, Standing } from '../../check/conformance.js';
import { notCalled } from '../../check/evidence.js';
import { REQUIREMENTS } from '../../check/rules/all.js';
import type { Event } from '../../events/events.js';
import type { Side } from '../../protocol/requirements.js';
import { safeJson } from '../../util/redact.js';
import { cut, since } from '../../util/text.js';
import { visible, visibleLine } from '../../util/visible.js';
import { reportLines, summaryText } from '../check-report.js';
import { BREACHES, callsText, caseLines, rowLines, tellingLegs, type WireRecord } from '../check-rows.js';
import { type Line, quote, say } from '../line.js';
import { createTheme, printed } from '../terminal/theme.js';
import type { CheckFormat } from './check-schema.js';
import { type JunitSuite, type JunitTest, junitXml, placeOf } from './junit.js';

/** For people. Every line is safe to print (threats, row 24); rows are broken between words, never in the id of a rule. */
const human: CheckFormat = ({ target, run, record, warnings, whole }, { level, isQuiet, width }) => {
  const heading = [say('check ', 'gutter'), ...quote(target)];
  const lines = [heading, [], ...reportLines(run, { record, warnings, whole, width }, isQuiet)];
  return printed(lines, createTheme(level), width);
};

type Command = 'error' | 'warning' | 'notice';

/** Workflow commands of GitHub Actions: an annotation for each problem, and one that sums them up. */
const github: CheckFormat = ({ target, run, record, warnings }) => {
  const lines = [
    ...run.checks.flatMap(row => rowCommand(row, record.file)),
    ...run.cases
      .filter(({ status }) => status !== 'pass')
      .map(({ place, operation, status, reason, calls }) => {
        const title = `case ${operation} ${status === 'fail' ? 'failed' : 'could not run'}`;
        const message = [`${place}: ${reason}`, ...callLine(calls, record.file)].join('\n');
        return command('error', { ...placeOf(place), title }, message);
      }),
    ...run.gaps.map(({ place, reason }) => {
      const title = 'incomplete recording; violations may be missed';
      return command('error', { ...placeOf(place), title }, `${place}: ${reason}`);
    }),
    ...run.idle.map(({ id, place, why }) =>
      command('notice', { ...placeOf(place), title: `${id} is expected to fail` }, `it ${why}`),
    ),
    ...warnings.map(message => command('warning', { title: 'protocol-cli check' }, message)),
    command('notice', { title: `check ${target}: ${run.verdict}` }, summaryText(run)),
  ];
  return lines.map(line => `${line}\n`).join('');
};

/** What keeps a run from being green is an error. */
const COMMANDS: Readonly<Record<Standing, Command | null>> = {
  failed: 'error',
  stale: 'error',
  'could-not-run': 'error',
  warned: 'warning',
  expected: null,
  passed: null,
  'not-applicable': null,
};

function rowCommand(row: Row, file?: string): string[] {
  const { id, level, standing, reason, reasonLines = [reason], calls, expected, actual, excuse } = row;
  const name = COMMANDS[standing];
  if (name === null) return [];
  const title = standing === 'could-not-run' ? `${id} could not run` : `${id} (${level})`;
  if (standing === 'stale')
    return [
      command(
        name,
        { ...placeOf(excuse?.place ?? ''), title },
        `it passes but is expected to fail; remove it from ${excuse?.place}`,
      ),
    ];
  const message = [
    ...reasonLines,
    ...callLine(calls, file),
    ...(expected === undefined ? [] : [`expected: ${expected}`]),
    ...(actual === undefined ? [] : [`actual: ${actual}`]),
    ...(BREACHES.includes(standing) ? [`to do: ${REQUIREMENTS[id].advice}`] : []),
  ];
  return [command(name, { title }, message.join('\n'))];
}

function staleText({ excuse }: Row): string {
  return `it passes but is expected to fail at ${excuse?.place}`;
}

function callLine(calls: Row['calls'], file?: string): string[] {
  return calls ? [`call: ${callsText(calls, file)}`] : [];
}

/** `::error file=cases.yaml,line=3,title=…::message`, escaped as GitHub documents it. */
function command(name: Command, properties: Readonly<Record<string, string>>, message: string): string {
  const escaped = (text: string) =>
    visible(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const list = Object.entries(properties).map(
    ([key, value]) => `${key}=${escaped(value).replaceAll(':', '%3A').replaceAll(',', '%2C')}`,
  );
  return `::${name} ${list.join(',')}::${escaped(message)}`;
}

/** One object, as fixtures/check-report.schema.json has it: a row for each rule, one for each case. */
const json: CheckFormat = ({ program, target, run, record, warnings }) => {
  const { verdict, summary, cases, gaps, idle } = run;
  const { events } = record;
  const report = {
    program,
    target,
    verdict,
    durationMs: lastAt(events),
    checks: run.checks.map(row => rowReport(row, record)),
    cases: cases.map(({ reasonLines: _, ...each }) => each),
    gaps,
    idleExpectedFailures: idle,
    probes: probeTimes(events),
    notCalled: notCalled(events),
    warnings,
    summary,
  };
  return `${safeJson(report, 2)}\n`;
};

const WITHOUT_EVIDENCE: readonly Standing[] = ['passed', 'stale', 'not-applicable'];

function rowReport({ excuse, spots = [], reasonLines: _, ...row }: Row, record: WireRecord): object {
  const { id, standing, events } = row;
  const { reason, place } = excuse ?? {};
  return {
    ...row,
    statement: REQUIREMENTS[id].statement,
    ...(BREACHES.includes(standing) && { advice: REQUIREMENTS[id].advice }),
    ...(excuse && { expectedFailure: { reason, place } }),
    ...(!WITHOUT_EVIDENCE.includes(standing) && { evidence: tellingLegs({ events, spots }, record).shown }),
  };
}

/** When the last event happened. */
function lastAt(events: readonly Event[]): number {
  return events.reduce((latest, { at }) => Math.max(latest, at), 0);
}

/** The probes of a check in the order in which they were planned, with the time from their first call to the last event of their calls. */
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
    return { id, calls: begun.size, ms: begun.size === 0 ? null : since(last, first) };
  });
}

const SUITE = 'check';

const SIDES: readonly Side[] = ['tool', 'runtime'];

const ENDINGS: Readonly<Record<Standing, 'failure' | 'error' | 'skipped' | null>> = {
  failed: 'failure',
  stale: 'failure',
  'could-not-run': 'error',
  warned: null,
  expected: 'skipped',
  passed: null,
  'not-applicable': 'skipped',
};

/**
 * JUnit's XML: a suite for each side, one for the cases, and one for gaps. A test takes the time of the exchanges by which it is
 * judged, a suite that of its tests together, and the run that of everything.
 */
const junit: CheckFormat = ({ target, run, record, warnings }) => {
  const msOf = exchangeTimes(record.events);
  const secondsOf = (seqs: readonly number[]) => inSeconds(msOf(seqs));
  const suite = (
    name: string,
    items: readonly { readonly events: readonly number[]; readonly test: JunitTest }[],
  ) => ({
    name: `${SUITE}.${name}`,
    seconds: secondsOf(items.flatMap(({ events }) => events)),
    tests: items.map(({ events, test }) => ({ ...test, seconds: secondsOf(events) })),
  });
  const suites: JunitSuite[] = [
    ...SIDES.map(side => {
      const rows = run.checks.filter(row => row.side === side);
      return suite(
        side,
        rows.map(row => ({ events: row.events, test: ruleTest(row, record) })),
      );
    }),
    suite(
      'cases',
      run.cases.map(each => ({ events: each.events, test: caseTest(each, record) })),
    ),
    suite(
      'gaps',
      run.gaps.map(({ place, reason }) => {
        const ending = { kind: 'error', type: 'gap', message: reason, text: `${place}: ${reason}` } as const;
        const name = `recording is complete at ${place}`;
        return { events: [], test: { classname: `${SUITE}.gaps`, name, place, seconds: 0, ending } };
      }),
    ),
  ].filter(({ tests }) => tests.length > 0);
  const notes = [...warnings, ...run.idle.map(idleText)].map(visibleLine);
  const [first, ...rest] = suites;
  const output = notes.length === 0 ? {} : { output: notes.join('\n') };
  const all = first ? [{ ...first, ...output }, ...rest] : [];
  return junitXml(`${SUITE} ${target}`, inSeconds(lastAt(record.events)), all);
};

/** To the microsecond. */
function inSeconds(ms: number): number {
  return Math.round(ms * 1_000) / 1_000_000;
}

function ruleTest(row: Row, record: WireRecord): JunitTest {
  const { id, side, level, standing, reason, excuse } = row;
  const kind = ENDINGS[standing];
  const expected = standing === 'expected' ? `expected: ${excuse?.reason}` : reason;
  const message = standing === 'stale' ? staleText(row) : expected;
  const text = plainText(rowLines(row, record, 'whole'));
  return {
    classname: `${SUITE}.${side}`,
    name: `${id} ${REQUIREMENTS[id].statement}`,
    seconds: 0,
    ...(kind && { ending: { kind, type: level, message, text } }),
    ...(standing === 'warned' && { output: text }),
  };
}

function caseTest(each: CaseCheck, record: WireRecord): JunitTest {
  const { place, operation, status, reason } = each;
  const test = { classname: `${SUITE}.cases`, name: `${operation} ${place}`, place, seconds: 0 };
  if (status === 'pass') return test;
  const kind = status === 'fail' ? 'failure' : 'error';
  const text = plainText(caseLines(each, record, 'whole'));
  return { ...test, ending: { kind, type: 'case', message: reason, text } };
}

function plainText(lines: readonly Line[]): string {
  return lines
    .map(line =>
      line
        .map(({ text }) => text)
        .join('')
        .trimEnd(),
    )
    .join('\n');
}

/**
 * How long the exchanges of some events (by their `seq`) went on, in ms: a call from its first event to its last, anything else from
 * its request to its end. Time in which several went on counts once.
 */
function exchangeTimes(events: readonly Event[]): (seqs: readonly number[]) => number {
  const spans = new Map<string, { from: number; to: number }>();
  const names = new Map<number, readonly string[]>();
  for (const event of events) {
    const ofLeg = 'leg' in event && event.leg !== undefined ? [`leg ${event.leg}`] : [];
    const own = event.calls?.length ? event.calls.map(key => `call ${key}`) : ofLeg;
    names.set(event.seq, own);
    for (const name of own) {
      const { from, to } = spans.get(name) ?? { from: event.at, to: event.at };
      spans.set(name, { from: Math.min(from, event.at), to: Math.max(to, event.at) });
    }
  }
  return seqs => {
    const concerned = [...new Set(seqs.flatMap(seq => names.get(seq) ?? []))];
    let [sum, until] = [0, 0];
    for (const { from, to } of concerned
      .flatMap(name => spans.get(name) ?? [])
      .sort((a, b) => a.from - b.from)) {
      sum += Math.max(0, to - Math.max(from, until));
      until = Math.max(until, to);
    }
    return sum;
  };
}

function idleText({ id, why, place }: IdleExcuse): string {
  return `${id} is expected to fail (${place}); it ${why}`;
}

const RESULTS: Readonly<Record<Standing, string>> = {
  failed: '❌ failed',
  stale: '❌ passes but is expected to fail',
  'could-not-run': '❔ could not run',
  warned: '⚠️ warning',
  expected: '➖ fails as expected',
  passed: '✅ passed',
  'not-applicable': '– not applicable',
};

const CASE_RESULTS: Readonly<Record<CaseCheck['status'], string>> = {
  pass: RESULTS.passed,
  fail: RESULTS.failed,
  'could-not-run': RESULTS['could-not-run'],
};

/** Tables for a README, or the summary of a CI job. */
const markdown: CheckFormat = ({ target, program, run, record, warnings }) => {
  const ofCalls = (calls: Row['calls']) => (calls ? ` (${safe(callsText(calls, record.file))})` : '');
  const rules = run.checks.map(({ id, side, level, standing, reason, calls, excuse }) => {
    const seen = excuse && standing === 'expected' ? `${reason} (${excuse.reason})` : reason;
    const asks = `the ${side} ${REQUIREMENTS[id].statement}`;
    return [id, level, cell(asks), RESULTS[standing], cell(seen) + ofCalls(calls)];
  });
  const cases = run.cases.map(({ place, operation, status, reason, calls }) => [
    cell(place),
    cell(operation),
    CASE_RESULTS[status],
    cell(reason) + ofCalls(calls),
  ]);
  const gaps = run.gaps.map(({ place, reason }) => [cell(place), cell(reason)]);
  const parts = [
    `**${run.verdict}** · ${cell(target)} · ${summaryText(run)} (${cell(program)})`,
    table(['rule', 'level', 'asks', 'result', 'seen'], rules),
    table(['case', 'operation', 'result', 'seen'], cases),
    table(['place', 'incomplete recording; violations may be missed'], gaps),
    warnings.map(each => `- ⚠️ ${cell(each)}`).join('\n'),
    run.idle.map(each => `- ${cell(idleText(each))}`).join('\n'),
  ];
  return `${parts.filter(Boolean).join('\n\n')}\n`;
};

/** Nothing where there are no rows. */
function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(line)].join('\n');
}

/** Characters of a cell. */
const LONGEST = 300;

function cell(text: string): string {
  return safe(cut(visibleLine(text), LONGEST));
}

/** Foreign text without markup: no table, no link, no HTML. An entity means its character everywhere. */
function safe(text: string): string {
  return text.replace(/[\\`*[\]<>|~&@]|(?<=:)\/(?=\/)/g, character => `&#${character.codePointAt(0)};`);
}

/** The formats of `check --reporter`. */
export const CHECK_FORMATS = { human, json, junit, github, markdown } as const satisfies Readonly<
  Record<string, CheckFormat>
>;

export type CheckFormatName = keyof typeof CHECK_FORMATS;
