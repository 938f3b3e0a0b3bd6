import { type Conformance, conformanceOf, type Row, type Verdict } from '../../check/conformance.js';
import { scenarioPlanIn } from '../../check/driver-evidence.js';
import type { Recording } from '../../check/evidence.js';
import { judgeCases } from '../../check/judge-cases.js';
import type { ExpectedFailure } from '../../fixtures/check-files.js';
import type { Warning } from '../../protocol/requirements.js';
import { shareableRun, type WireRecord } from '../../render/check-evidence.js';
import { findingsOf } from '../../render/check-findings.js';
import { findingLines, type ReportInput } from '../../render/check-report.js';
import { pluralize } from '../../render/line.js';
import { CHECK_FORMATS } from '../../render/outputs/check.js';
import { warningText } from '../../render/outputs/trouble.js';
import { createTheme } from '../../render/terminal/theme.js';
import { printed } from '../../render/terminal/wrap.js';
import { mergeWarnings } from '../../render/warnings.js';
import { writeOut } from '../../system/streams.js';
import type { Redactor } from '../../util/redact.js';
import { shellWord } from '../../util/shell-word.js';
import { elapsedMs, joinFirst } from '../../util/text.js';
import { readText } from '../read-source.js';
import { columnsOf, writeReports } from '../reports.js';
import { type ExitStatus, PROGRAM, type Terminal } from '../terminal.js';
import { type CheckPlan, isNewFile } from './plan.js';
import type { CheckInput } from './read-input.js';
import type { Judged } from './repeat.js';

const STATUSES = { passed: 0, failed: 1, incomplete: 3 } as const satisfies Record<Verdict, ExitStatus>;

/** Prints the warnings, and writes the reports of a check that ended by itself. Returns the exit status. */
export async function reportAll(
  plan: CheckPlan,
  input: CheckInput,
  judged: Judged,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { stderr } = terminal;
  const { reports, flags } = plan;
  const { recordings, redactor } = input;
  const first = conclude(plan, input, judged);
  const expectedFailures = await changedExpected(plan, first, terminal);
  const run = expectedFailures ? conclude({ ...plan, expectedFailures }, input, judged) : first;
  const warnings = [...warningsIn(recordings, redactor), ...(input.warnings ?? [])];
  if (!flags.quiet) for (const warning of warnings) stderr.write(warningText(warning));
  const report: ReportInput = {
    target: input.target,
    program: PROGRAM,
    run,
    warnings: warnings.map(({ message }) => message),
    record: recordOf(input, judged),
    whole: howToSeeWhole(plan, run),
  };
  const formats = { reporters: CHECK_FORMATS, command: 'check', flags };
  const status = await writeReports(reports, report, formats, terminal);
  return STATUSES[run.verdict] || status;
}

/** `--update` and `--prune`: changes the file of expected failures, and says how. Returns them; null if the file stays as it is. */
async function changedExpected(
  { flags }: CheckPlan,
  { checks }: Conformance,
  { stderr, stdin }: Terminal,
): Promise<readonly ExpectedFailure[] | null> {
  const { expectedFailures: path, update, prune } = flags;
  if (path === undefined || !(update || prune)) return null;
  const { changeOf, writeExpected } = await import('./update-expected.js');
  const change = changeOf(checks, update === true);
  const { added, removed } = change;
  if (added.length + removed.length === 0) return null;
  const text = isNewFile(flags) ? '' : await readText(path, stdin);
  const written = await writeExpected(path, text, change);
  stderr.write(`${path}: ${pluralize(added.length, 'failure')} added, ${removed.length} removed\n`);
  return written;
}

/** Prints the failures found before the user stopped the check. A report would be incomplete. */
export async function reportSoFar(
  plan: CheckPlan,
  input: CheckInput,
  judged: Judged,
  { stderr }: Terminal,
): Promise<ExitStatus> {
  const run = conclude(plan, input, judged);
  const broken = findingsOf(run).filter(({ standing, about }) => standing === 'failed' && about !== 'case');
  const rows = broken.flatMap(each => findingLines(each, recordOf(input, judged)));
  const found = broken.length === 0 ? 'no failures' : pluralize(broken.length, 'failure');
  await writeOut(stderr, `interrupted; ${found} so far\n${printed(rows, createTheme(0), columnsOf(stderr))}`);
  return 3;
}

/** Returns the verdicts of the rules and the cases, without secrets. */
function conclude(
  { sides, cases, expectedFailures, flags }: CheckPlan,
  { recordings, gaps, redactor }: CheckInput,
  { checks, evidences, missingResults }: Judged,
): Conformance {
  const scenarios = scenarioTimes(recordings);
  const isStrict = flags.strict === true;
  const exit = evidences.map(evidence => evidence.exit).find(Boolean) ?? null;
  const options = { expectedFailures, sides, isStrict, gaps, scenarios, missingResults, exit };
  return shareableRun(conformanceOf(checks, judgeCases(cases, evidences), options), redactor);
}

function scenarioTimes(recordings: readonly Recording[]) {
  return recordings.flatMap(({ events }) => {
    const { plan: id, unsupported } = scenarioPlanIn(events) ?? {};
    if (id === undefined) return [];
    const ms = elapsedMs(events.at(-1)?.at ?? 0, events[0]?.at ?? 0);
    return [{ id, ms, ...(unsupported && { unsupported }) }];
  });
}

/** Maximum number of scenarios named with a warning. */
const MAX_NAMES = 3;

/** The warnings of all recordings, each once; those of scenarios with their names. */
function warningsIn(recordings: readonly Recording[], redactor: Redactor): readonly Warning[] {
  const scenarios = new Map<string, Set<string>>();
  const warnings = recordings.flatMap(({ events }) => {
    const scenario = scenarioPlanIn(events)?.plan;
    return events.flatMap(event => {
      const isOfCall = scenario !== undefined && event.calls !== undefined; // a tool of the scenario warns of what the rules judge
      if (event.kind !== 'warned' || isOfCall) return [];
      const message = redactor.text(event.message);
      const known = scenarios.get(message);
      if (scenario !== undefined) scenarios.set(message, (known ?? new Set()).add(scenario));
      return known && scenario !== undefined ? [] : [{ message }];
    });
  });
  return mergeWarnings(warnings).map(({ message }) => {
    const names = [...(scenarios.get(message) ?? [])];
    return { message: names.length === 0 ? message : `${message} (in ${joinFirst(names, MAX_NAMES)})` };
  });
}

/** Returns how to see the complete messages of a check: in its transcript. */
function howToSeeWhole({ subject, flags: { save } }: CheckPlan, { checks }: Conformance): string {
  if (subject.kind === 'runtime') return howToSeeScenario(save, checks);
  if (save !== undefined) return `protocol-cli render ${shellWord(save, process.platform)}`;
  if (subject.kind !== 'transcript')
    return 'check again with --save check.ndjson, then protocol-cli render check.ndjson';
  if (subject.file === '-') return 'save it to a file first, then protocol-cli render that file';
  return `protocol-cli render ${shellWord(subject.file, process.platform)}`;
}

/** Of the first rule that did not pass. */
function howToSeeScenario(save: string | undefined, checks: readonly Row[]): string {
  const rows = checks.toSorted(
    (one, other) => Number(other.standing === 'failed') - Number(one.standing === 'failed'),
  );
  const [name = '<scenario>'] = rows.flatMap(({ scenarios = [] }) => scenarios);
  const show = `protocol-cli render ${shellWord(`${save ?? 'out'}/${name}.ndjson`, process.platform)}`;
  return save === undefined ? `check again with --scenario ${name} --save out, then ${show}` : show;
}

function recordOf(
  { target, file = target, recordings, redactor }: CheckInput,
  { repeats }: Judged,
): WireRecord {
  return { file, events: recordings.flatMap(({ events }) => events), repeats, redactor };
}
