import type { Conformance, Row, Standing } from '../check/conformance.js';
import { RULES } from '../check/rules/index.js';
import { type EndProof, type ExitProof, isFatalExit } from '../check/server-end.js';
import type { RequirementId, Side } from '../protocol/requirements.js';
import { type Line, quote, say } from './line.js';

/** A result of a check: for a rule, a case, a gap in the recording, an expected failure that could not occur, or the exit of a server. */
export interface Finding extends Pick<Row, 'events' | 'spots' | 'runs'> {
  readonly about: Side | 'case' | 'gap' | 'idle' | 'exit';
  /** The rule; absent if it is not about one. */
  readonly id?: RequirementId;
  readonly standing: Standing;
  readonly heading: Line;
  /** The heading as plain text. Untrusted. */
  readonly name: string;
  /** The title of a code annotation. */
  readonly title: string;
  readonly kind: string;
  readonly reasons: readonly string[];
  readonly scenarios?: readonly string[] | undefined;
  /** `file:line` of the place to fix. */
  readonly place?: string | undefined;
  readonly calls?: Row['calls'] | undefined;
  readonly expected?: string | undefined;
  readonly actual?: string | undefined;
  /** How to fix a violation. */
  readonly advice?: string;
  /** The failed rule that explains why this one could not run. */
  readonly cause?: RequirementId | undefined;
  /** What the exit of a server kept from being run. */
  readonly notRun?: string | undefined;
  /** What else it says, with labels. */
  readonly facts?: readonly (readonly [label: string, text: string])[];
}

/** Rules whose violations explain others, and are listed first. */
const CAUSES: readonly RequirementId[] = [
  'TOOL-ACK',
  'TOOL-POST',
  'TOOL-OPAQUE',
  'TOOL-ISOLATE',
  'TOOL-DISCOVER',
  'TOOL-NAMES',
];

/**
 * All results of a check: the exit of a server, rules, cases, gaps in the recording, and expected failures that could not occur. The exit
 * of a server stands for all that it caused.
 */
export function findingsOf(run: Conformance): Finding[] {
  const { checks, gaps, idle, exit, missingResults } = run;
  const nothing = { events: [], kind: 'gap' };
  const isShown = (row: Row) => exit === null || !isOfExit(row);
  const silent = missingResults === null ? [] : checks.filter(({ id }) => id === 'TOOL-ALWAYS');
  const causes = [
    ...checks.filter(({ id, standing }) => isBreach(standing) && CAUSES.includes(id)),
    ...silent.filter(({ standing }) => standing === 'could-not-run'),
  ];
  const rows = [...new Set([...causes, ...checks])].filter(isShown);
  const cases = run.cases.filter(({ byExit }) => exit === null || !byExit);
  return [
    ...(exit ? [exitFinding(exit, run)] : []),
    ...rows.map(row => ({ ...findingOf(row), cause: causeOf(row, checks) })),
    ...cases.map(({ place, operation, status, reason, reasonLines: reasons = [reason], events, calls }) => ({
      about: 'case' as const,
      standing: CASES[status],
      heading: [...quote(operation, 'title'), say('  '), ...quote(place, 'dim')],
      name: `${operation} ${place}`,
      title: `case ${operation} ${status === 'fail' ? 'failed' : 'could not run'}`,
      kind: 'case',
      reasons,
      place,
      events,
      calls,
    })),
    ...gaps.map(({ place, reason }) => ({
      ...nothing,
      about: 'gap' as const,
      standing: 'could-not-run' as const,
      heading: quote(place, 'title'),
      name: `recording is complete at ${place}`,
      title: 'incomplete recording; violations may be missed',
      reasons: [reason],
      place,
    })),
    ...idle.map(({ id, place, why }) => ({
      ...nothing,
      about: 'idle' as const,
      id,
      standing: 'not-applicable' as const,
      heading: [say(id, 'title'), say('  is expected to fail')],
      name: id,
      title: `${id} is expected to fail`,
      reasons: [`it ${why} (${place})`],
      place,
    })),
  ];
}

/** As {@link findingsOf}; a rule that the same messages broke by the same fact as another one, and that is no worse, is named there. */
export function mergedFindings(run: Conformance): readonly Finding[] {
  const merged: Finding[] = [];
  for (const finding of findingsOf(run)) {
    const at = merged.findIndex(each => isSameBreach(each, finding));
    const first = merged[at];
    if (first) merged[at] = mergedWith(first, finding);
    else merged.push(finding);
  }
  return merged;
}

function isSameBreach(first: Finding, { about, standing, events, actual }: Finding): boolean {
  if (first.about !== about || first.actual !== actual || actual === undefined) return false;
  if (events.length === 0 || !isBreach(standing)) return false;
  const isNoWorse = first.standing === standing || first.standing === 'failed';
  return isNoWorse && first.events.join() === events.join();
}

function mergedWith(first: Finding, { id, kind, advice }: Finding): Finding {
  if (id === undefined) return first;
  return {
    ...first,
    facts: [...(first.facts ?? []), ['also', `${id}  ${kind}  ${RULES[id].statement}`]],
    advice: [first.advice, advice].filter(Boolean).join(' '),
  };
}

/** Whether the exit of the server stands for this row; an expected failure has a row of its own. */
export function isOfExit({ byExit, standing }: Row): boolean {
  return byExit === true && (isBreach(standing) || standing === 'could-not-run');
}

/** The name of the test that fails if a server exits. */
const KEEPS_RUNNING = 'the server keeps running';

function exitFinding(
  exit: NonNullable<Conformance['exit']>,
  { checks, cases, verdict }: Conformance,
): Finding {
  const { message, calls, cause, proof } = exit;
  const isOwn = proof.kind !== 'refused';
  const rows = checks.filter(isOfExit);
  const broken = rows.filter(({ standing }) => isBreach(standing));
  const names = [
    ...rows.flatMap(({ id, standing }) => (isBreach(standing) ? [] : [id])),
    ...cases.flatMap(({ byExit, operation, place }) => (byExit ? [`case ${operation} ${place}`] : [])),
  ];
  const [first] = broken;
  const isFailure = isFatalExit(exit) || (proof.kind !== 'not-repeated' && first !== undefined);
  return {
    about: 'exit',
    standing: isFailure && verdict === 'failed' ? 'failed' : 'could-not-run',
    heading: quote(message, 'title'),
    name: KEEPS_RUNNING,
    title: message,
    kind: 'exit',
    reasons: isOwn ? outputLines(proof.output) : [REFUSED],
    events: [...cause, ...broken.flatMap(({ events }) => events)],
    spots: broken.flatMap(({ spots = [] }) => spots),
    calls: isOwn ? (first?.calls ?? calls) : calls,
    expected: first?.expected,
    facts: [
      ...broken.map(
        ({ id, level }) => ['fails', `${id} (${level}): the tool ${RULES[id].statement}`] as const,
      ),
      ...(isOwn ? [['repeated', repetitionText(proof)] as const] : []),
    ],
    ...(names.length > 0 && { notRun: names.join(', ') }),
    advice: exitAdvice(proof),
  };
}

function outputLines(output: readonly string[]): readonly string[] {
  return output.length === 0 ? ['it wrote nothing to stderr'] : output;
}

function exitAdvice(proof: EndProof): string {
  if (proof.kind === 'refused') return `${AFTER_END[proof.returned ?? 'gone']} ${FIND_CALL}`;
  const fix =
    proof.output.length === 0
      ? 'Find out why the server exits: it must not.'
      : 'Catch the exception, or fix what the output above shows: the server must not exit.';
  return proof.kind === 'not-repeated'
    ? `${fix} It may depend on earlier calls, or on calls at the same time.`
    : fix;
}

const REFUSED = 'it had answered before, and then refused connections';

const AFTER_END = {
  gone: 'Read the log of the tool, and start it again.',
  same: 'Read what the log of the tool says before it was started again.',
  other: 'Stop the other program, or start the tool on another port. Read the log of the tool.',
} as const;

const FIND_CALL = 'protocol-cli check --command <command> finds the call that ends it.';

function repetitionText(proof: ExitProof): string {
  if (proof.kind === 'repeated') return 'a new server exited too, with nothing else in progress';
  if (proof.kind === 'recorded') return 'no: a recording cannot be repeated';
  if (proof.repeats === 0) return 'no: nothing that it was doing may be called again';
  return proof.repeats === 1
    ? 'no: a new server with the same call, and nothing else in progress, did not exit'
    : `no: ${proof.repeats} new servers with one call or probe each, and nothing else in progress, did not exit`;
}

export const CASES = { pass: 'passed', fail: 'failed', 'could-not-run': 'could-not-run' } as const;

/** The failed rule that explains why this one could not run. */
function causeOf({ cause, standing }: Row, checks: readonly Row[]): Finding['cause'] {
  if (standing !== 'could-not-run') return undefined;
  return checks.find(({ id, status }) => id === cause && status === 'fail')?.id;
}

function findingOf(row: Row): Finding {
  const { id, side, level, standing, reason, reasonLines = [reason], expectedFailure, events } = row;
  const { statement } = RULES[id];
  const advice = adviceOf(row);
  const rule = {
    about: side,
    id,
    standing,
    heading: [say(id, 'title'), say(`  ${level}  `, 'dim'), say(statement)],
    name: `${id} ${statement}`,
    title: titleOf(row),
    kind: level,
    events,
  };
  if (standing === 'stale') {
    const stale = `it passes but is expected to fail; remove it from ${expectedFailure?.place}`;
    return { ...rule, reasons: [stale], place: expectedFailure?.place };
  }
  const { scenarios, calls, expected, actual, spots = [], runs } = row;
  const isExpected = expectedFailure !== undefined && standing === 'expected';
  return {
    ...rule,
    reasons: [
      ...(isExpected ? [`expected: ${expectedFailure.reason} (${expectedFailure.place})`] : []),
      ...reasonLines,
    ],
    scenarios,
    calls,
    expected,
    actual,
    spots,
    ...(runs && { runs }),
    ...(advice !== undefined && { advice }),
  };
}

/** What to do about it: of what did not pass. */
export function adviceOf({ id, standing, advice }: Row): string | undefined {
  if (isBreach(standing)) return advice ?? RULES[id].advice;
  return standing === 'could-not-run' ? advice : undefined;
}

function titleOf({ id, level, standing }: Row): string {
  if (standing === 'could-not-run') return `${id} could not run`;
  return standing === 'flaky' ? `${id} is flaky` : `${id} (${level})`;
}

/** Whether this result has to be fixed. */
export function isBreach(standing: Standing): boolean {
  return standing === 'failed' || standing === 'flaky' || standing === 'warned';
}

/** Whether messages can prove this result. */
export function hasEvidence(standing: Standing): boolean {
  return standing !== 'passed' && standing !== 'stale' && standing !== 'not-applicable';
}
