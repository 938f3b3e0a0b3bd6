import type {
  SessionProblem,
  SessionVerificationReport,
  VerificationReport,
} from '../../events/verification.js';
import { safeJson } from '../../util/redact.js';
import { visibleLine } from '../../util/visible.js';
import { pluralize } from '../line.js';
import { type JunitTest, junitXml } from './junit.js';

type FixtureVerdict = VerificationReport['fixtures'][number];
type UnmatchedCall = VerificationReport['unmatched']['examples'][number];
type UndeliveredCallback = VerificationReport['undelivered']['examples'][number];

/** Text for stderr: a line for each problem, and a summary. Every line is safe to print (threats, row 24). */
function humanVerification(report: VerificationReport): string {
  const problems = [
    ...report.fixtures.flatMap(fixture => {
      const problem = fixtureProblem(fixture);
      const { id, place, answers } = fixture;
      const where = id === place ? answers : place;
      return problem === null ? [] : [`fixture ${where === undefined ? id : `${id} (${where})`} ${problem}`];
    }),
    ...listed(report.unmatched, unmatchedText).map(text => `unmatched call: ${text}`),
    ...listed(report.undelivered, undeliveredText).map(text => `undelivered callback: ${text}`),
  ];
  return verdictLines(report.ok, problems, summary(report));
}

/** The same for a session. */
export function humanSessionVerification(report: SessionVerificationReport): string {
  const { sessions, calls, answered, problems, ok } = report;
  const found = problems.count === 0 ? '' : `, ${pluralize(problems.count, 'problem')}`;
  const sum = `${answered} of ${pluralize(calls, 'call')} answered in ${pluralize(sessions, 'session')}${found}`;
  return verdictLines(
    ok,
    listed(problems, problem => sessionProblem(problem, sessions > 1)),
    sum,
  );
}

function verdictLines(ok: boolean, problems: readonly string[], sum: string): string {
  const verdict = ok ? '✓ verified' : '✗ verification failed';
  return [...problems.map(problem => `✗ ${problem}`), `${verdict}: ${sum}`]
    .map(line => `${visibleLine(line)}\n`)
    .join('');
}

/** Returns null if the fixture was used as expected. */
function fixtureProblem({ calls, status, expected }: FixtureVerdict): string | null {
  if (status === 'used' || status === 'not-needed') return null;
  if (status === 'unused' && expected?.min === undefined) return 'was not used';
  const times = calls === 0 ? 'not called' : calls === 1 ? 'called once' : `called ${calls} times`;
  return `was ${times}, expected ${range(expected)}`;
}

function range({ min, max }: FixtureVerdict['expected'] = {}): string {
  if (min !== undefined && min === max) return `${min}`;
  const parts = [min === undefined ? '' : `at least ${min}`, max === undefined ? '' : `at most ${max}`];
  return parts.filter(Boolean).join(' and ');
}

function unmatchedText({ operation, id, group_id, reason, nearest }: UnmatchedCall): string {
  const call = `${callText(operation, id)}${group_id === null ? '' : ` of ${group_id}`}`;
  const near = nearest ? `; nearest: ${nearest.fixture}: ${nearest.path} ${nearest.reason}` : '';
  return `${call}: ${reason ?? `no fixture matches${near}`}`;
}

function undeliveredText({ operation, id, url, type, why }: UndeliveredCallback): string {
  const what = type === undefined ? '' : `${type} for `;
  return `${what}${callText(operation, id)}${url === null ? '' : ` to ${url}`}: ${why}`;
}

function callText(operation: string | null, id: string | null): string {
  return `${operation ?? 'a call without an operation'}${id === null ? '' : ` (${id})`}`;
}

/** The examples of a finding, and how many more there are. */
function listed<T>(
  { count, examples }: { readonly count: number; readonly examples: readonly T[] },
  text: (example: T) => string,
): string[] {
  const more = count - examples.length;
  return [...examples.map(text), ...(more > 0 ? [`and ${more} more`] : [])];
}

/** `7 calls, 2 of 5 fixtures not as expected, 1 unmatched call, 3 undelivered callbacks` */
function summary({ calls, fixtures, unmatched, undelivered }: VerificationReport): string {
  const failed = fixtures.filter(fixture => fixtureProblem(fixture) !== null).length;
  const all = pluralize(fixtures.length, 'fixture');
  return [
    pluralize(calls, 'call'),
    failed > 0 ? `${failed} of ${all} not as expected` : all,
    ...(unmatched.count > 0 ? [pluralize(unmatched.count, 'unmatched call')] : []),
    ...(undelivered.count > 0 ? [pluralize(undelivered.count, 'undelivered callback')] : []),
  ].join(', ');
}

function sessionProblem(problem: SessionProblem, isNamed: boolean): string {
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

const SUITE = 'mock-tool';

/** A test for each fixture, one for all calls, and one for all callbacks. */
function junitVerification(report: VerificationReport): string {
  const { unmatched, undelivered } = report;
  const tests = [
    ...report.fixtures.map(fixture => {
      const { id, place, status, answers } = fixture;
      const name = answers === undefined ? id : `${id} (${answers})`;
      const problem = fixtureProblem(fixture);
      return { ...test('fixtures', name, status, problem === null ? [] : [`${name} ${problem}`]), place };
    }),
    test('calls', 'every call is answered by a fixture', 'unmatched', listed(unmatched, unmatchedText)),
    test('callbacks', 'every callback is delivered', 'undelivered', listed(undelivered, undeliveredText)),
  ];
  return junitXml(SUITE, 0, [{ name: SUITE, seconds: 0, tests }]);
}

function test(about: string, name: string, type: string, problems: readonly string[]): JunitTest {
  const [first, ...more] = problems;
  const passed = { classname: `${SUITE}.${about}`, name, seconds: 0 };
  if (first === undefined) return passed;
  const message = more.length > 0 ? `${first} (and more)` : first;
  return { ...passed, ending: { kind: 'failure', type, message, text: problems.join('\n') } };
}

/** How a verification is printed; `json` and `junit` are the formats of `--report`. */
export const VERIFICATION_FORMATS = {
  human: humanVerification,
  junit: junitVerification,
  json: report => `${safeJson(report, 2)}\n`,
} as const satisfies Readonly<Record<string, (report: VerificationReport) => string>>;
