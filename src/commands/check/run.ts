import { appendFile } from 'node:fs/promises';
import { judgeCases } from '../../check/cases.js';
import { type Conformance, conformanceOf, type Verdict } from '../../check/conformance.js';
import { gather } from '../../check/evidence.js';
import { checksOf } from '../../check/judge.js';
import { runProbes } from '../../check/probes/run.js';
import { REQUIREMENTS } from '../../check/rules/all.js';
import { REQUIREMENT_IDS, type Warning } from '../../protocol/requirements.js';
import { ruleLine, shareableRun, specLines } from '../../render/check-report.js';
import { rowLines, type WireRecord } from '../../render/check-rows.js';
import { CHECK_FORMATS } from '../../render/outputs/check.js';
import type { CheckStory } from '../../render/outputs/check-schema.js';
import { warningText } from '../../render/outputs/trouble.js';
import { colourLevel } from '../../render/terminal/colour-level.js';
import { createTheme, printed } from '../../render/terminal/theme.js';
import { counted } from '../../render/warnings.js';
import { systemClock } from '../../system/clock.js';
import { writeOut } from '../../system/streams.js';
import { shellWord } from '../../util/text.js';
import { colourOf } from '../output.js';
import { writeReports } from '../reports.js';
import { columnsOf, type ExitStatus, PROGRAM, type Terminal } from '../terminal.js';
import { runOnEachChange } from '../watch-command.js';
import { type CheckFlags, type CheckPlan, planCheck } from './plan.js';
import { LiveCheck, type Making, readWitness, type Witness } from './witness.js';

const OURS: Making = { clock: systemClock, probes: runProbes };

/** `check`, from the flags to the exit status. */
export async function runCheck(
  word: string | undefined,
  flags: CheckFlags,
  terminal: Terminal,
  making = OURS,
): Promise<ExitStatus> {
  if (flags.list || flags.spec) return explainRules(flags, terminal);
  terminal.computes?.();
  const check = async () => checkOnce(await planCheck(word, flags, terminal), terminal, making);
  return flags.watch ? runOnEachChange(flags.command, terminal, check) : check();
}

async function checkOnce(plan: CheckPlan, terminal: Terminal, making: Making): Promise<ExitStatus> {
  const { subject } = plan;
  if (subject.kind === 'transcript')
    return reportAll(plan, await readWitness(subject.file, terminal), terminal);
  const witness = await new LiveCheck(subject.target, plan, terminal, making).run();
  if (witness.interrupted === undefined) return reportAll(plan, witness, terminal);
  await reportSoFar(plan, witness, terminal);
  return witness.interrupted;
}

/** `--list` and `--spec`: the rules themselves; nothing is checked. */
async function explainRules(
  { spec, color, side, only, skip }: CheckFlags,
  { stdout, env }: Terminal,
): Promise<ExitStatus> {
  const listed = REQUIREMENT_IDS.filter(
    id =>
      (side === undefined || REQUIREMENTS[id].side === side) &&
      (only?.includes(id) ?? true) &&
      !skip?.includes(id),
  );
  const lines = spec
    ? spec.flatMap((id, index) => [...(index === 0 ? [] : [[]]), ...specLines(id)])
    : listed.map(ruleLine);
  const theme = createTheme(colourOf(stdout, { color }, { env }));
  await writeOut(stdout, printed(lines, theme, columnsOf(stdout)));
  return 0;
}

/** The verdicts of the rules and the cases, without secrets. */
async function judgeAll(
  { sides, selection, cases, excuses, flags }: CheckPlan,
  { recordings, gaps, redactor }: Witness,
): Promise<Conformance> {
  const seen = await Promise.all(
    sides.map(async side => ({
      side,
      evidences: await Promise.all(recordings.map(each => gather(each, side))),
    })),
  );
  const checks = seen.flatMap(({ side, evidences }) => checksOf(side, evidences, selection));
  const judged = judgeCases(cases, seen[0]?.evidences ?? []);
  const run = conformanceOf(checks, judged, { excuses, sides, isStrict: flags.strict === true, gaps });
  return shareableRun(run, redactor);
}

/** Prints the failures found until the user stopped the check. A report would be incomplete. */
async function reportSoFar(plan: CheckPlan, witness: Witness, { stderr }: Terminal): Promise<void> {
  const { checks } = await judgeAll(plan, witness);
  const broken = checks.filter(({ standing }) => standing === 'failed');
  const rows = broken.flatMap(row => rowLines(row, recordOf(witness)));
  const found = broken.length === 0 ? 'nothing was found broken so far' : `broken so far: ${broken.length}`;
  await writeOut(
    stderr,
    `interrupted without a verdict; ${found}\n${printed(rows, createTheme(0), columnsOf(stderr))}`,
  );
}

const STATUSES: Readonly<Record<Verdict, ExitStatus>> = { passed: 0, failed: 1, incomplete: 3 };

async function reportAll(plan: CheckPlan, witness: Witness, terminal: Terminal): Promise<ExitStatus> {
  const run = await judgeAll(plan, witness);
  const warnings = warningsIn(witness);
  if (!plan.flags.quiet) for (const warning of warnings) terminal.stderr.write(warningText(warning));
  const story: CheckStory = {
    target: witness.target,
    program: PROGRAM,
    run,
    warnings: warnings.map(({ message }) => message),
    record: recordOf(witness),
    whole: howToSeeWhole(plan),
  };
  const status = await writeAll(story, plan, terminal);
  return STATUSES[run.verdict] || status;
}

/** Writes the reports, and what GitHub shows of the job. Returns the status for a report that could not be written; else 0. */
async function writeAll(
  story: CheckStory,
  { reports, flags: { color, quiet: isQuiet = false } }: CheckPlan,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { stdout, env } = terminal;
  const level = colourLevel({ env, isTTY: stdout.isTTY === true, noColor: !color });
  const width = columnsOf(stdout);
  const look = { level, isQuiet, ...(width !== undefined && { width }) };
  const status = await writeReports(
    reports,
    ({ format, file }) => CHECK_FORMATS[format](story, file === null ? look : { level: 0, isQuiet }),
    terminal,
  );
  if (reports.some(({ format }) => format === 'github')) await addSummary(story, terminal);
  return status;
}

/** What GitHub shows on the page of the job: it names the file, and others write there too. */
async function addSummary(story: CheckStory, { env, stderr }: Terminal): Promise<void> {
  const file = env['GITHUB_STEP_SUMMARY'];
  if (!file) return;
  const text = `### protocol-cli check\n\n${CHECK_FORMATS.markdown(story, { level: 0, isQuiet: false })}\n`;
  await appendFile(file, text).catch(cause => {
    const why = cause instanceof Error ? cause.message : String(cause);
    stderr.write(warningText({ message: `the step summary of GitHub could not be written: ${why}` }));
  });
}

/** How to see the messages of a check whole: they are in its transcript. */
export function howToSeeWhole({ subject, flags: { save } }: Pick<CheckPlan, 'subject' | 'flags'>): string {
  if (save !== undefined) return `protocol-cli render ${shellWord(save)}`;
  if (subject.kind === 'tool')
    return 'check again with --save check.ndjson, then protocol-cli render check.ndjson';
  if (subject.file === '-') return 'save it to a file first, then protocol-cli render that file';
  return `protocol-cli render ${shellWord(subject.file)}`;
}

function recordOf({ target, file = target, recordings, redactor }: Witness): WireRecord {
  return { file, events: recordings.flatMap(({ events }) => events), redactor };
}

function warningsIn({ recordings, redactor }: Witness): readonly Warning[] {
  const events = recordings.flatMap(each => each.events);
  return counted(
    events.flatMap(event => (event.kind === 'warned' ? [{ message: redactor.text(event.message) }] : [])),
  );
}
