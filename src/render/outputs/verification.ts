import { safeJson } from '../../util/safe-json.js';
import { visibleLine } from '../../util/visible.js';
import { fixtureProblem, undeliveredProblems, unmatchedProblems } from '../../verification/problems.js';
import type {
  FixtureVerdict,
  SessionProblem,
  SessionVerificationReport,
  VerificationReport,
} from '../../verification/report.js';
import { pluralize } from '../line.js';
import { annotation } from './github.js';
import { inSeconds, type JunitTest, junitXml, placeOf } from './junit.js';
import { BADGES, cell, table } from './markdown.js';
import type { Reporters } from './report-formats.js';

/** The test command that ran beside the server. */
export interface CommandResult {
  /** Its exit status; 128 plus the number of a signal. */
  readonly status: number;
  readonly ms: number;
}

/** The run that was verified. */
export interface VerifiedRun {
  /** Name and version of this program. */
  readonly program: string;
  /** Null without a command. */
  readonly command: CommandResult | null;
  readonly ms: number;
}

interface VerifiedTest {
  readonly suite: 'command' | 'fixtures' | 'calls' | 'callbacks';
  readonly name: string;
  readonly place?: string;
  readonly ms: number;
  /** The kind of failure. */
  readonly type: string;
  /** What went wrong; empty if the test passed. Untrusted. */
  readonly problems: readonly string[];
}

/** What a verification found, for every format. */
export interface Verified {
  /** The command of this program: `mock-tool`. */
  readonly subject: string;
  readonly run: VerifiedRun;
  /** True if every test passed. */
  readonly ok: boolean;
  readonly summary: string;
  /** What to do, if the likely cause is known. */
  readonly hint?: string;
  /** The command first: a test run that was cut short explains what is missing. */
  readonly tests: readonly VerifiedTest[];
  /** Its members in the report as data. */
  readonly data: object;
}

/** A test for each fixture, one for all calls, and one for all callbacks. */
export function verifiedMock(report: VerificationReport, run: VerifiedRun): Verified {
  const { fixtures, unmatched, undelivered, ms } = report;
  const counts = [
    pluralize(report.calls, 'call'),
    fixturesText(report),
    ...(unmatched.count > 0 ? [pluralize(unmatched.count, 'unmatched call')] : []),
    ...(undelivered.count > 0 ? [pluralize(undelivered.count, 'undelivered callback')] : []),
  ];
  const result = verified('mock-tool', run, counts, report, [
    ...fixtures.map(fixtureTest),
    {
      suite: 'calls',
      name: 'every call is answered by a fixture',
      ms: ms.invocations,
      type: 'unmatched',
      problems: unmatchedProblems(unmatched),
    },
    {
      suite: 'callbacks',
      name: 'every callback is delivered',
      ms: ms.callbacks,
      type: 'undelivered',
      problems: undeliveredProblems(undelivered),
    },
  ]);
  return run.command && report.calls === 0 ? { ...result, hint: NO_CALLS } : result;
}

/** `go test` prints the saved result of an earlier run if neither the files nor the environment have changed. */
const NO_CALLS =
  'No call came. Does the command call the URL in TOOL_URL? (Tests in Go: add -count=1, or Go prints a saved result.)';

/** One test for all calls of all sessions. */
export function verifiedSessions(report: SessionVerificationReport, run: VerifiedRun): Verified {
  const { sessions, calls, answered, problems } = report;
  const counts = [
    `${answered} of ${pluralize(calls, 'call')} answered in ${pluralize(sessions, 'session')}`,
    ...(problems.count > 0 ? [pluralize(problems.count, 'problem')] : []),
  ];
  return verified('session mock', run, counts, report, [
    {
      suite: 'calls',
      name: 'every call is answered as expected',
      ms: run.ms,
      type: 'unexpected',
      problems: listed(problems, problem => sessionProblem(problem, sessions > 1)),
    },
  ]);
}

function verified(
  subject: string,
  run: VerifiedRun,
  counts: readonly string[],
  report: { readonly ok: boolean },
  ownTests: readonly VerifiedTest[],
): Verified {
  const { program, command, ms } = run;
  const tests = command ? [commandTest(command), ...ownTests] : ownTests;
  const ok = report.ok && tests.every(({ problems }) => problems.length === 0);
  const summary = [...counts, ...(command && command.status !== 0 ? ['the command failed'] : [])].join(', ');
  const data = { program, ...report, ok, durationMs: ms, ...(command && { command }) };
  return { subject, run, ok, summary, tests, data };
}

function commandTest({ status, ms }: CommandResult): VerifiedTest {
  const problems = status === 0 ? [] : [`the command exited with status ${status}`];
  return { suite: 'command', name: 'the command succeeds', ms, type: 'exit', problems };
}

/** A line for each problem, and a summary. Every line is safe to print (threats, row 24). */
function human({ ok, summary, tests, hint }: Verified): string {
  const verdict = ok ? '✓ verified' : '✗ verification failed';
  const problems = tests.flatMap(test => test.problems.map(problem => `✗ ${problem}`));
  const advice = hint === undefined ? [] : [`hint: ${hint}`];
  return [...problems, `${verdict}: ${summary}`, ...advice].map(line => `${visibleLine(line)}\n`).join('');
}

function fixtureTest(fixture: FixtureVerdict): VerifiedTest {
  const { id, place, status, answers, ms } = fixture;
  const problem = fixtureProblem(fixture);
  const name = answers === undefined ? id : `${id} (${answers})`;
  const problems = problem === null ? [] : [problem];
  return { suite: 'fixtures', name, place, ms, type: status, problems };
}

/** The examples of a finding, and how many more there are. */
function listed<T>(
  { count, examples }: { readonly count: number; readonly examples: readonly T[] },
  text: (example: T) => string,
): string[] {
  const more = count - examples.length;
  return [...examples.map(text), ...(more > 0 ? [`and ${more} more`] : [])];
}

/** `2 of 5 fixtures not as expected` */
function fixturesText({ fixtures }: VerificationReport): string {
  const failed = fixtures.filter(fixture => fixtureProblem(fixture) !== null).length;
  const all = pluralize(fixtures.length, 'fixture');
  return failed > 0 ? `${failed} of ${all} not as expected` : all;
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

/** A suite with a test for each. */
function junit({ subject, run, tests }: Verified): string {
  const seconds = inSeconds(run.ms);
  const all = tests.map(({ suite, name, place, ms, type, problems }): JunitTest => {
    const test = {
      classname: `${subject}.${suite}`,
      name,
      seconds: inSeconds(ms),
      ...(place !== undefined && { place }),
    };
    const [first, ...more] = problems;
    if (first === undefined) return test;
    const message = more.length > 0 ? `${first} (and more)` : first;
    return { ...test, ending: { kind: 'failure', type, message, text: problems.join('\n') } };
  });
  return junitXml(subject, seconds, [{ name: subject, seconds, tests: all }]);
}

function github({ subject, ok, summary, tests }: Verified): string {
  const failed = tests.flatMap(({ name, place = '', problems }) =>
    problems.length === 0
      ? []
      : [annotation('error', { ...placeOf(place), title: `${subject}: ${name}` }, problems.join('\n'))],
  );
  return [...failed, annotation('notice', { title: `${subject}: ${verdictText(ok)}` }, summary)].join('');
}

function markdown({ subject, run, ok, summary, tests }: Verified): string {
  const rows = tests.map(({ name, problems }) => {
    const [first = '', ...more] = problems;
    const badge = BADGES[verdictText(problems.length === 0)];
    return [cell(name), badge, cell(more.length > 0 ? `${first} (and more)` : first)];
  });
  const heading = `**${verdictText(ok)}** · ${cell(subject)} · ${summary} (${cell(run.program)})`;
  return `${heading}\n\n${table(['test', 'result', 'seen'], rows)}\n`;
}

function verdictText(ok: boolean): 'passed' | 'failed' {
  return ok ? 'passed' : 'failed';
}

/** The reports of a verification. */
export const VERIFICATION_FORMATS: Reporters<Verified> = {
  human,
  junit,
  github,
  markdown,
  json: ({ data }) => `${safeJson(data, 2)}\n`,
};
