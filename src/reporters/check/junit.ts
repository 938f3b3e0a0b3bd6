import { REQUIREMENTS, type Side } from '../../protocol/requirements.js';
import type { CaseCheck } from '../../rules/cases.js';
import type { Conformance, Gap, Row } from '../../rules/conformance.js';
import { exchangeTimes } from '../../story/checks/exchange-times.js';
import { plainText } from '../../story/checks/plain-text.js';
import { wholeTime } from '../../story/checks/probe-times.js';
import { caseLines, idleText, rowLines } from '../../story/checks/row-lines.js';
import type { WireRecord } from '../../story/checks/wire-legs.js';
import { visibleLine } from '../../text/visible.js';
import { type XmlElement, xmlDocument } from '../verification/xml.js';
import { placeOf } from '../verification/xml-place.js';
import type { CheckFormat } from './format.js';

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
  const stale = `it passes, though its failure is expected at ${excuse?.place}`;
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
    name: `nothing was lost at ${place}`,
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
