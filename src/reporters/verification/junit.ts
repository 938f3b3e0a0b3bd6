import type { FixtureVerdict, VerificationReport } from '../../exchange/verification/report.js';
import { fixtureProblem, listed, undeliveredText, unmatchedText } from './sentences.js';
import { type XmlElement, xmlDocument } from './xml.js';
import { placeOf } from './xml-place.js';

const SUITE = 'mock-tool';

/** One thing that holds or does not. */
interface Case {
  readonly about: 'fixtures' | 'calls' | 'callbacks';
  readonly name: string;
  readonly place?: string;
  /** What went wrong, each on a line. */
  readonly problems: readonly string[];
  /** A word for the kind of it. */
  readonly type: string;
}

/** JUnit's XML: one test suite, a test case for each fixture, and two for what must not happen at all. */
export function junitVerification(report: VerificationReport): string {
  const cases = [...report.fixtures.map(fixtureCase), ...generalCases(report)];
  const counts = {
    tests: cases.length,
    failures: cases.filter(({ problems }) => problems.length > 0).length,
    errors: 0,
    skipped: 0,
  };
  const suite = {
    name: 'testsuite',
    attributes: { name: SUITE, ...counts, time: 0 },
    children: cases.map(testCase),
  };
  return xmlDocument({
    name: 'testsuites',
    attributes: { name: SUITE, ...counts, time: 0 },
    children: [suite],
  });
}

function fixtureCase(fixture: FixtureVerdict): Case {
  const { id, place, status, answers } = fixture;
  const name = answers === undefined ? id : `${id} (${answers})`;
  const problem = fixtureProblem(fixture);
  return { about: 'fixtures', name, place, type: status, problems: problem ? [`${name} ${problem}`] : [] };
}

function generalCases({ unmatched, undelivered }: VerificationReport): Case[] {
  return [
    {
      about: 'calls',
      name: 'every call is answered by a fixture',
      type: 'unmatched',
      problems: listed(unmatched, unmatchedText),
    },
    {
      about: 'callbacks',
      name: 'every callback is delivered',
      type: 'undelivered',
      problems: listed(undelivered, undeliveredText),
    },
  ];
}

function testCase({ about, name, place, problems, type }: Case): XmlElement {
  const [message = '', ...more] = problems;
  const failure: XmlElement = {
    name: 'failure',
    attributes: { type, message: more.length > 0 ? `${message} (and more)` : message },
    text: problems.join('\n'),
  };
  return {
    name: 'testcase',
    attributes: { classname: `${SUITE}.${about}`, name, ...placeOf(place ?? ''), time: 0 },
    ...(message !== '' && { children: [failure] }),
  };
}
