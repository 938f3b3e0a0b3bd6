import type {
  Expectation,
  Findings,
  FixtureVerdict,
  SessionProblem,
  SessionVerificationReport,
  UndeliveredCallback,
  UnmatchedCall,
  VerificationReport,
} from '../../events/verification-report.js';
import { safeJson } from '../../util/redact-json.js';
import { visible, visibleLine } from '../../util/visible.js';

/*
 * What went wrong, in words. Texts in here are foreign and not yet made visible.
 */

/** Null where the fixture is fine. */
function fixtureProblem({ calls, status, expected }: FixtureVerdict): string | null {
  if (status === 'used' || status === 'not-needed') return null;
  if (status === 'unused' && expected?.min === undefined) return 'was not used';
  return `was ${called(calls)}, expected ${range(expected)}`;
}

function unmatchedText({ operation, id, group_id, reason, nearest }: UnmatchedCall): string {
  const call = `${callText(operation, id)}${group_id === null ? '' : ` of ${group_id}`}`;
  if (reason !== undefined) return `${call}: ${reason}`;
  if (!nearest) return `${call}: no fixture matches`;
  return `${call}: no fixture matches; nearest: ${nearest.fixture}: ${nearest.path} ${nearest.reason}`;
}

function undeliveredText({ operation, id, url, type, why }: UndeliveredCallback): string {
  const what = type === undefined ? '' : `${type} for `;
  return `${what}${callText(operation, id)}${url === null ? '' : ` to ${url}`}: ${why}`;
}

/** Those that are shown, and how many are not. */
function listed<T>({ count, examples }: Findings<T>, text: (example: T) => string): string[] {
  const more = count - examples.length;
  return [...examples.map(text), ...(more > 0 ? [`and ${more} more`] : [])];
}

/** `7 calls, 2 of 5 fixtures not as expected, 1 unmatched call, 3 undelivered callbacks` */
function summary({ calls, fixtures, unmatched, undelivered }: VerificationReport): string {
  const failed = fixtures.filter(fixture => fixtureProblem(fixture) !== null).length;
  const parts = [
    failed > 0
      ? `${failed} of ${counted(fixtures.length, 'fixture')} not as expected`
      : counted(fixtures.length, 'fixture'),
    unmatched.count > 0 ? counted(unmatched.count, 'unmatched call') : '',
    undelivered.count > 0 ? counted(undelivered.count, 'undelivered callback') : '',
  ];
  return `${counted(calls, 'call')}, ${parts.filter(Boolean).join(', ')}`;
}

function callText(operation: string | null, id: string | null): string {
  return `${operation ?? 'a call without an operation'}${id === null ? '' : ` (${id})`}`;
}

function range({ min, max }: Expectation = {}): string {
  if (min !== undefined && min === max) return `${min}`;
  const parts = [min === undefined ? '' : `at least ${min}`, max === undefined ? '' : `at most ${max}`];
  return parts.filter(Boolean).join(' and ');
}

function called(count: number): string {
  if (count === 0) return 'not called';
  return count === 1 ? 'called once' : `called ${count} times`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** For stderr: a line for each thing that went wrong, and one that sums it up. Every line is safe to print (threats, row 24). */
export function humanVerification(report: VerificationReport): string {
  const fixtures = report.fixtures.flatMap(fixture => {
    const problem = fixtureProblem(fixture);
    return problem === null ? [] : [`fixture ${named(fixture)} ${problem}`];
  });
  const unmatched = listed(report.unmatched, unmatchedText).map(text => `unmatched call: ${text}`);
  const undelivered = listed(report.undelivered, undeliveredText).map(
    text => `undelivered callback: ${text}`,
  );
  const problems = [...fixtures, ...unmatched, ...undelivered].map(problem => `✗ ${problem}`);
  const verdict = report.ok ? '✓ verified' : '✗ verification failed';
  return [...problems, `${verdict}: ${summary(report)}`].map(line => `${visibleLine(line)}\n`).join('');
}

/** A fixture without an id of its own is known by its place. */
function named({ id, place, answers }: FixtureVerdict): string {
  const about = id === place ? answers : place;
  return about === undefined ? id : `${id} (${about})`;
}

/** The report itself, as one object. */
export function jsonVerification(report: VerificationReport): string {
  return `${safeJson(report, 2)}\n`;
}

/** An element of XML 1.0. What it cannot hold (control characters, half surrogates) is made visible instead. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
  readonly children?: readonly XmlElement[];
  readonly text?: string;
}

export function xmlDocument(root: XmlElement): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element(root, '')}`;
}

function element({ name, attributes, children = [], text = '' }: XmlElement, indent: string): string {
  const start = `${indent}<${name}${Object.entries(attributes).map(attribute).join('')}`;
  if (children.length === 0 && text === '') return `${start}/>\n`;
  if (children.length === 0) return `${start}>${escaped(visible(text))}</${name}>\n`;
  return `${start}>\n${children.map(child => element(child, `${indent}  `)).join('')}${indent}</${name}>\n`;
}

/** On one line: a reader would turn a line feed into a space. */
function attribute([name, value]: [string, string | number | undefined]): string {
  return value === undefined ? '' : ` ${name}="${escaped(visibleLine(String(value)))}"`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, character => ENTITIES[character] ?? '');
}

/** Where a test case of JUnit stands: `fixtures.yaml:12` is a line of a file; `fixtures.json#3` is only its file. */
export function placeOf(place: string): Record<string, string> {
  const [, file, line] = /^(.+?)(?::(\d+)(?::\d+)?|#\d+)$/.exec(place) ?? [];
  return { ...(file !== undefined && { file }), ...(line !== undefined && { line }) };
}

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

/** The formats of `--report`. A new one is one file and one line here. */
export const VERIFICATION_FORMATS = {
  junit: junitVerification,
  json: jsonVerification,
} as const satisfies Readonly<Record<string, (report: VerificationReport) => string>>;

export type VerificationFormat = keyof typeof VERIFICATION_FORMATS;

/** For stderr: a line for each thing that went wrong, and one that sums it up. Every line is safe to print (threats, row 24). */
export function humanSessionVerification(report: SessionVerificationReport): string {
  const problems = listed(report.problems, problem => problemText(problem, report.sessions > 1));
  const verdict = report.ok ? '✓ verified' : '✗ verification failed';
  return [...problems.map(problem => `✗ ${problem}`), `${verdict}: ${sessionSummary(report)}`]
    .map(line => `${visibleLine(line)}\n`)
    .join('');
}

function problemText(problem: SessionProblem, isNamed: boolean): string {
  const where = isNamed && problem.session !== null ? ` (${problem.session})` : '';
  switch (problem.kind) {
    case 'unanswered':
      return `${problem.tool_name} ${problem.call} was not answered${where}`;
    case 'unexpected':
      return `${problem.tool_name} ${problem.call} got an unexpected answer: ${problem.path} ${problem.reason}${where}`;
    case 'unreached':
      return `${problem.rounds} of ${problem.of} rounds ${problem.rounds === 1 ? 'was' : 'were'} not reached${where}`;
    case 'refused':
      return `${problem.what === 'session' ? 'a new session was' : 'results were'} refused with ${problem.status}: ${problem.reason}${where}`;
  }
}

/** `2 of 3 calls answered in 1 session, 4 problems` */
function sessionSummary({
  sessions,
  calls,
  answered,
  problems: { count },
}: SessionVerificationReport): string {
  const found = count === 0 ? '' : `, ${count} problem${count === 1 ? '' : 's'}`;
  return `${answered} of ${calls} call${calls === 1 ? '' : 's'} answered in ${sessions} session${sessions === 1 ? '' : 's'}${found}`;
}
