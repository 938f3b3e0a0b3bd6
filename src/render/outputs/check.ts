import type { CaseCheck } from '../../check/cases.js';
import type { Conformance, Gap, IdleExcuse, Row, Standing } from '../../check/conformance.js';
import { notCalled } from '../../check/evidence.js';
import { REQUIREMENTS } from '../../check/rules/all.js';
import type { Event } from '../../events/events.js';
import type { Side } from '../../protocol/requirements.js';
import { cut } from '../../util/json-diagnosis.js';
import { safeJson } from '../../util/redact-json.js';
import { visible, visibleLine } from '../../util/visible.js';
import { callsText, plainText } from '../check-pieces.js';
import { reportLines, summaryText } from '../check-report.js';
import { BREACHES, caseLines, idleText, rowLines, tellingLegs, type WireRecord } from '../check-requests.js';
import { quote, say } from '../line.js';
import { createTheme, printed } from '../terminal/theme.js';
import type { CheckFormat } from './check-schema.js';
import { placeOf, type XmlElement, xmlDocument } from './verification.js';

type Command = 'error' | 'warning' | 'notice';

/** Workflow commands of GitHub Actions: an annotation for each thing that is wrong, and one that sums it up. */
export const githubCheck: CheckFormat = ({ target, run, record, warnings }) => {
  const lines = [
    ...run.checks.flatMap(row => rowCommand(row, record.file)),
    ...run.cases.filter(({ status }) => status !== 'pass').map(each => caseCommand(each, record.file)),
    ...run.gaps.map(gapCommand),
    ...run.idle.map(idleCommand),
    ...warnings.map(message => command('warning', { title: 'protocol-cli check' }, message)),
    command('notice', { title: `check ${target}: ${run.verdict}` }, summaryText(run)),
  ];
  return lines.map(line => `${line}\n`).join('');
};

/** Whatever keeps a run from being green is an error there. */
const COMMANDS: Readonly<Partial<Record<Standing, Command>>> = {
  failed: 'error',
  stale: 'error',
  'could-not-run': 'error',
  warned: 'warning',
};

function rowCommand(row: Row, file?: string): string[] {
  const { id, level, standing } = row;
  const name = COMMANDS[standing];
  if (!name) return [];
  const how = standing === 'could-not-run' ? `${id} could not run` : `${id} (${level})`;
  const where = standing === 'stale' && row.excuse ? placeOf(row.excuse.place) : {};
  return [command(name, { ...where, title: how }, messageOf(row, file))];
}

function messageOf(
  { id, standing, reason, reasonLines = [reason], calls, expected, actual, excuse }: Row,
  file?: string,
): string {
  if (standing === 'stale') return `it passes but is expected to fail; remove it from ${excuse?.place}`;
  return [
    ...reasonLines,
    ...aboutCalls(calls, file),
    ...(expected === undefined ? [] : [`expected: ${expected}`]),
    ...(actual === undefined ? [] : [`actual: ${actual}`]),
    ...(BREACHES.includes(standing) ? [`to do: ${REQUIREMENTS[id].advice}`] : []),
  ].join('\n');
}

function aboutCalls(calls: Row['calls'], file?: string): string[] {
  return calls ? [`call: ${callsText(calls, file)}`] : [];
}

function caseCommand({ place, operation, status, reason, calls }: CaseCheck, file?: string): string {
  const title = `case ${operation} ${status === 'fail' ? 'failed' : 'could not run'}`;
  const message = [`${place}: ${reason}`, ...aboutCalls(calls, file)].join('\n');
  return command('error', { ...placeOf(place), title }, message);
}

function gapCommand({ place, reason }: Gap): string {
  return command(
    'error',
    { ...placeOf(place), title: 'incomplete recording; violations may be missed' },
    `${place}: ${reason}`,
  );
}

function idleCommand({ id, place, why }: IdleExcuse): string {
  return command('notice', { ...placeOf(place), title: `${id} is expected to fail` }, `it ${why}`);
}

/** `::error file=cases.yaml,line=3,title=…::message`, escaped as GitHub documents it. */
function command(name: Command, properties: Readonly<Record<string, string>>, message: string): string {
  const written = Object.entries(properties).map(([key, value]) => `${key}=${escapedProperty(value)}`);
  return `::${name} ${written.join(',')}::${escaped(message)}`;
}

function escaped(text: string): string {
  return visible(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapedProperty(text: string): string {
  return escaped(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** For a person. Every line is safe to print (threats, row 24); rows are broken between words, never in the id of a rule. */
export const humanCheck: CheckFormat = (
  { target, run, record, warnings, whole },
  { level, isQuiet, width },
) => {
  const theme = createTheme(level);
  const heading = [say('check ', 'gutter'), ...quote(target)];
  const lines = [heading, [], ...reportLines(run, { record, warnings, whole, width }, isQuiet)];
  return printed(lines, theme, width);
};

/** What was tried, and how long it took. */
interface ProbeTime {
  readonly id: string;
  readonly calls: number;
  /** From its first call to the last that was heard of them; null for what makes no calls. */
  readonly ms: number | null;
}

/** The probes of a check, in the order in which they were planned. Empty where nothing was probed. */
export function probeTimes(events: readonly Event[]): readonly ProbeTime[] {
  const begun = new Map<string, Map<string, number>>();
  for (const event of events) {
    if (event.kind !== 'planned' || event.by !== 'probe') continue;
    const calls = begun.get(event.plan) ?? new Map<string, number>();
    for (const key of event.calls ?? []) calls.set(key, event.at);
    begun.set(event.plan, calls);
  }
  const ends = lastHeard(events);
  return [...begun].map(([id, calls]) => ({ id, calls: calls.size, ms: spanOf(calls, ends) }));
}

/** When the last thing happened that is about a call. */
function lastHeard(events: readonly Event[]): ReadonlyMap<string, number> {
  return new Map(events.flatMap(({ calls = [], at }) => calls.map(key => [key, at] as const)));
}

function spanOf(calls: ReadonlyMap<string, number>, ends: ReadonlyMap<string, number>): number | null {
  if (calls.size === 0) return null;
  let [begun, ended] = [Number.POSITIVE_INFINITY, 0];
  for (const [key, at] of calls) {
    begun = Math.min(begun, at);
    ended = Math.max(ended, ends.get(key) ?? at);
  }
  return toMicros(ended - begun);
}

/** When the last event happened: how long it all took. */
export function wholeTime(events: readonly Event[]): number {
  return events.reduce((latest, { at }) => Math.max(latest, at), 0);
}

function toMicros(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}

/** One object, as fixtures/check-report.schema.json has it: a row for each rule, one for each case. */
export const jsonCheck: CheckFormat = ({ program, target, run, record, warnings }) => {
  const { verdict, summary, cases, gaps, idle } = run;
  const report = {
    program,
    target,
    verdict,
    durationMs: wholeTime(record.events),
    checks: run.checks.map(row => rowOf(row, record)),
    cases: cases.map(({ reasonLines: _, ...each }) => each),
    gaps,
    idleExpectedFailures: idle,
    probes: probeTimes(record.events),
    notCalled: notCalled(record.events),
    warnings,
    summary,
  };
  return `${safeJson(report, 2)}\n`;
};

const FINE: readonly Row['standing'][] = ['passed', 'stale', 'not-applicable'];

function rowOf({ excuse, spots = [], reasonLines: _, ...row }: Row, record: WireRecord): object {
  const { id, standing, events } = row;
  const { reason, place } = excuse ?? {};
  return {
    ...row,
    statement: REQUIREMENTS[id].statement,
    ...(BREACHES.includes(standing) && { advice: REQUIREMENTS[id].advice }),
    ...(excuse && { expectedFailure: { reason, place } }),
    ...(!FINE.includes(standing) && { evidence: tellingLegs({ events, spots }, record).shown }),
  };
}

/** From its first event to its last, in ms since the start. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * For how long that went on which some events, named by their `seq`, are of, in ms: a call from its first event to its last, anything
 * else from its request to what became of it. What went on at the same time counts once.
 */
export function exchangeTimes(events: readonly Event[]): (seqs: readonly number[]) => number {
  const spans = new Map<string, Span>();
  const names = new Map(events.map(event => [event.seq, namesOf(event)]));
  for (const event of events)
    for (const name of namesOf(event)) spans.set(name, widened(event.at, spans.get(name)));
  return seqs => {
    const concerned = new Set(seqs.flatMap(seq => names.get(seq) ?? []));
    return covered([...concerned].flatMap(name => spans.get(name) ?? []));
  };
}

function namesOf(event: Event): readonly string[] {
  const { calls = [] } = event;
  if (calls.length > 0) return calls.map(key => `call ${key}`);
  return 'leg' in event && event.leg !== undefined ? [`leg ${event.leg}`] : [];
}

function widened(at: number, { from, to }: Span = { from: at, to: at }): Span {
  return { from: Math.min(from, at), to: Math.max(to, at) };
}

function covered(spans: readonly Span[]): number {
  let [sum, until] = [0, 0];
  for (const { from, to } of spans.toSorted((one, other) => one.from - other.from)) {
    sum += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return sum;
}

const SUITE = 'check';

/** What JUnit knows of a test: it passed, or one of these. */
type Ending = 'failure' | 'error' | 'skipped' | null;

interface Test {
  readonly element: XmlElement;
  readonly ending: Ending;
  /** By their `seq`, the events that it took its time for. */
  readonly events: readonly number[];
}

/** What tests are written with. */
interface Desk {
  readonly record: WireRecord;
  readonly secondsOf: (events: readonly number[]) => number;
}

/**
 * JUnit's XML: a test suite for each side, one for the cases, and one for what was lost; a test case for each rule, case and gap. The
 * time of a test is that of the exchanges it is judged by, that of a suite theirs together, and that of everything the run's.
 */
export const junitCheck: CheckFormat = ({ target, run, record, warnings }) => {
  const timeOf = exchangeTimes(record.events);
  const desk: Desk = { record, secondsOf: events => inSeconds(timeOf(events)) };
  const suites = suitesOf(run, desk).filter(({ tests }) => tests.length > 0);
  const all = suites.flatMap(({ tests }) => tests);
  return xmlDocument({
    name: 'testsuites',
    attributes: { name: `${SUITE} ${target}`, ...countsOf(all), time: inSeconds(wholeTime(record.events)) },
    children: suites.map(({ name, tests }, index) => ({
      name: 'testsuite',
      attributes: { name, ...countsOf(tests), time: desk.secondsOf(tests.flatMap(({ events }) => events)) },
      children: [
        ...tests.map(({ element }) => element),
        ...(index === 0 ? besides([...warnings, ...run.idle.map(idleText)]) : []),
      ],
    })),
  });
};

/** JUnit counts in seconds; what is finer than a millionth of one is none of ours. */
function inSeconds(ms: number): number {
  return Math.round(ms * 1_000) / 1_000_000;
}

/** A suite may have an output of its own. */
function besides(remarks: readonly string[]): XmlElement[] {
  const text = remarks.map(visibleLine).join('\n');
  return remarks.length === 0 ? [] : [{ name: 'system-out', attributes: {}, text }];
}

const SIDES: readonly Side[] = ['tool', 'runtime'];

function suitesOf({ checks, cases, gaps }: Conformance, desk: Desk) {
  const ofSide = (side: Side) => checks.filter(row => row.side === side).map(row => ruleTest(row, desk));
  return [
    ...SIDES.map(side => ({ name: `${SUITE}.${side}`, tests: ofSide(side) })),
    { name: `${SUITE}.cases`, tests: cases.map(each => caseTest(each, desk)) },
    { name: `${SUITE}.gaps`, tests: gaps.map(gapTest) },
  ];
}

function countsOf(tests: readonly Test[]) {
  const count = (ending: Ending) => tests.filter(test => test.ending === ending).length;
  return {
    tests: tests.length,
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
  };
}

const ENDINGS: Readonly<Record<Row['standing'], Ending>> = {
  failed: 'failure',
  stale: 'failure',
  'could-not-run': 'error',
  warned: null,
  expected: 'skipped',
  passed: null,
  'not-applicable': 'skipped',
};

function ruleTest(row: Row, { record, secondsOf }: Desk): Test {
  const { id, side, level, standing, reason, excuse, events } = row;
  const ending = ENDINGS[standing];
  const stale = `it passes but is expected to fail at ${excuse?.place}`;
  const message =
    standing === 'expected' ? `expected: ${excuse?.reason}` : standing === 'stale' ? stale : reason;
  const text = plainText(rowLines(row, record, 'whole'));
  const name = `${id} ${REQUIREMENTS[id].statement}`;
  const about = { classname: `${SUITE}.${side}`, name, time: secondsOf(events) };
  const warning = standing === 'warned' ? [{ name: 'system-out', attributes: {}, text }] : [];
  const children = ending ? [ended(ending, { type: level, message, text })] : warning;
  return { ending, events, element: { name: 'testcase', attributes: about, children } };
}

function caseTest(each: CaseCheck, { record, secondsOf }: Desk): Test {
  const { place, operation, status, reason, events } = each;
  const ending = status === 'pass' ? null : status === 'fail' ? 'failure' : 'error';
  const text = plainText(caseLines(each, record, 'whole'));
  const about = {
    classname: `${SUITE}.cases`,
    name: `${operation} ${place}`,
    ...placeOf(place),
    time: secondsOf(events),
  };
  const children = ending ? [ended(ending, { type: 'case', message: reason, text })] : [];
  return { ending, events, element: { name: 'testcase', attributes: about, children } };
}

function gapTest({ place, reason }: Gap): Test {
  const about = {
    classname: `${SUITE}.gaps`,
    name: `recording is complete at ${place}`,
    ...placeOf(place),
    time: 0,
  };
  const children = [ended('error', { type: 'gap', message: reason, text: `${place}: ${reason}` })];
  return { ending: 'error', events: [], element: { name: 'testcase', attributes: about, children } };
}

/** What is skipped has a message alone. */
function ended(
  ending: Exclude<Ending, null>,
  { type, message, text }: Readonly<Record<'type' | 'message' | 'text', string>>,
): XmlElement {
  if (ending === 'skipped') return { name: ending, attributes: { message } };
  return { name: ending, attributes: { type, message }, text };
}

/** Characters of what was seen: a table is looked over. */
const LONGEST = 300;

const WORDS: Readonly<Record<Standing, string>> = {
  failed: '❌ failed',
  stale: '❌ passes but is expected to fail',
  'could-not-run': '❔ could not run',
  warned: '⚠️ warning',
  expected: '➖ fails as expected',
  passed: '✅ passed',
  'not-applicable': '– not applicable',
};

/** Tables for a README, or the summary of a CI job. */
export const markdownCheck: CheckFormat = ({ target, program, run, record, warnings }) => {
  const { checks, cases, gaps, idle, verdict } = run;
  const parts = [
    `**${verdict}** · ${cell(target)} · ${summaryText(run)} (${cell(program)})`,
    ...table(
      ['rule', 'level', 'asks', 'result', 'seen'],
      checks.map(row => ruleCells(row, record.file)),
    ),
    ...table(
      ['case', 'operation', 'result', 'seen'],
      cases.map(each => caseCells(each, record.file)),
    ),
    ...table(['place', 'incomplete recording; violations may be missed'], gaps.map(gapCells)),
    ...(warnings.length > 0 ? [warnings.map(each => `- ⚠️ ${cell(each)}`).join('\n')] : []),
    ...(idle.length > 0 ? [idle.map(each => `- ${cell(idleText(each))}`).join('\n')] : []),
  ];
  return `${parts.join('\n\n')}\n`;
};

function ruleCells({ id, side, level, standing, reason, calls, excuse }: Row, file?: string): string[] {
  const seen = excuse && standing === 'expected' ? `${reason} (${excuse.reason})` : reason;
  const { statement } = REQUIREMENTS[id];
  return [id, level, cell(`the ${side} ${statement}`), WORDS[standing], cell(seen) + ofCalls(calls, file)];
}

const CASE_WORDS: Readonly<Record<CaseCheck['status'], Standing>> = {
  pass: 'passed',
  fail: 'failed',
  'could-not-run': 'could-not-run',
};

function caseCells({ place, operation, status, reason, calls }: CaseCheck, file?: string): string[] {
  const seen = cell(reason) + ofCalls(calls, file);
  return [cell(place), cell(operation), WORDS[CASE_WORDS[status]], seen];
}

/** Names are never cut: somebody looks for them. */
function ofCalls(calls: Row['calls'], file?: string): string {
  return calls ? ` (${safe(callsText(calls, file))})` : '';
}

function gapCells({ place, reason }: Gap): string[] {
  return [cell(place), cell(reason)];
}

/** Nothing where there are no rows. */
function table(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return rows.length === 0
    ? []
    : [[line(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(line)].join('\n')];
}

function cell(text: string): string {
  return safe(cut(visibleLine(text), LONGEST));
}

/** Foreign text that is nothing but text: no table of its own, no link, no HTML. An entity means its character wherever it stands. */
function safe(line: string): string {
  return line.replace(MARKUP, character => `&#${character.codePointAt(0)};`);
}

const MARKUP = /[\\`*[\]<>|~&@]|(?<=:)\/(?=\/)/g;

/** The formats of `check --reporter`. A new one is one file and one line here. */
export const CHECK_FORMATS = {
  human: humanCheck,
  json: jsonCheck,
  junit: junitCheck,
  github: githubCheck,
  markdown: markdownCheck,
} as const satisfies Readonly<Record<string, CheckFormat>>;

export type CheckFormatName = keyof typeof CHECK_FORMATS;
