import { REQUIREMENTS, type Side } from '../../protocol/requirements.js';
import type { CaseCheck } from '../../rules/cases.js';
import type { Gap, Row } from '../../rules/conformance.js';
import { plainText } from '../../story/checks/plain-text.js';
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
}

/** JUnit's XML: a test suite for each side, one for the cases, and one for what was lost; a test case for each rule, case and gap. */
export const junitCheck: CheckFormat = ({ target, run, record, warnings }) => {
  const suites = [
    ...SIDES.map(side =>
      suiteOf(
        side,
        run.checks.filter(row => row.side === side).map(row => ruleTest(row, record)),
      ),
    ),
    suiteOf(
      'cases',
      run.cases.map(each => caseTest(each, record)),
    ),
    suiteOf('gaps', run.gaps.map(gapTest)),
  ].filter(({ tests }) => tests.length > 0);
  const all = suites.flatMap(({ tests }) => tests);
  return xmlDocument({
    name: 'testsuites',
    attributes: { name: `${SUITE} ${target}`, ...countsOf(all), time: 0 },
    children: suites.map(({ name, tests }, index) => ({
      name: 'testsuite',
      attributes: { name, ...countsOf(tests), time: 0 },
      children: [
        ...tests.map(({ element }) => element),
        ...(index === 0 ? besides([...warnings, ...run.idle.map(idleText)]) : []),
      ],
    })),
  });
};

/** A suite may have an output of its own. */
function besides(remarks: readonly string[]): XmlElement[] {
  const text = remarks.map(visibleLine).join('\n');
  return remarks.length === 0 ? [] : [{ name: 'system-out', attributes: {}, text }];
}

const SIDES: readonly Side[] = ['tool', 'runtime'];

function suiteOf(name: string, tests: readonly Test[]) {
  return { name: `${SUITE}.${name}`, tests };
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

function ruleTest(row: Row, record: WireRecord): Test {
  const { id, side, level, standing, reason, excuse } = row;
  const ending = ENDINGS[standing];
  const stale = `it passes, though its failure is expected at ${excuse?.place}`;
  const message =
    standing === 'expected' ? `expected: ${excuse?.reason}` : standing === 'stale' ? stale : reason;
  const text = plainText(rowLines(row, record));
  const name = `${id} ${REQUIREMENTS[id].statement}`;
  const about = { classname: `${SUITE}.${side}`, name, time: 0 };
  const warning = standing === 'warned' ? [{ name: 'system-out', attributes: {}, text }] : [];
  const children = ending ? [ended(ending, { type: level, message, text })] : warning;
  return { ending, element: { name: 'testcase', attributes: about, children } };
}

function caseTest(each: CaseCheck, record: WireRecord): Test {
  const { place, operation, status, reason } = each;
  const ending = status === 'pass' ? null : status === 'fail' ? 'failure' : 'error';
  const text = plainText(caseLines(each, record));
  const about = { classname: `${SUITE}.cases`, name: `${operation} ${place}`, ...placeOf(place), time: 0 };
  const children = ending ? [ended(ending, { type: 'case', message: reason, text })] : [];
  return { ending, element: { name: 'testcase', attributes: about, children } };
}

function gapTest({ place, reason }: Gap): Test {
  const about = {
    classname: `${SUITE}.gaps`,
    name: `nothing was lost at ${place}`,
    ...placeOf(place),
    time: 0,
  };
  const children = [ended('error', { type: 'gap', message: reason, text: `${place}: ${reason}` })];
  return { ending: 'error', element: { name: 'testcase', attributes: about, children } };
}

/** What is skipped has a message alone. */
function ended(
  ending: Exclude<Ending, null>,
  { type, message, text }: Readonly<Record<'type' | 'message' | 'text', string>>,
): XmlElement {
  if (ending === 'skipped') return { name: ending, attributes: { message } };
  return { name: ending, attributes: { type, message }, text };
}
