import { appendFile } from 'node:fs/promises';
import { judgeCases } from '../../check/cases.js';
import { type Conformance, conformanceOf, type Verdict } from '../../check/conformance.js';
import { gather } from '../../check/evidence.js';
import { checksOf } from '../../check/judge.js';
import { runProbes } from '../../check/probes/probes.js';
import { REQUIREMENTS } from '../../check/rules/all.js';
import { REQUIREMENT_IDS } from '../../protocol/requirements.js';
import type { WireRecord } from '../../render/check-evidence.js';
import { findingLines, findingsOf, ruleLine, shareableRun, specLines } from '../../render/check-report.js';
import { CHECK_FORMATS, type CheckStory } from '../../render/outputs/check.js';
import { warningText } from '../../render/outputs/trouble.js';
import { createTheme, printed } from '../../render/terminal/theme.js';
import { counted } from '../../render/warnings.js';
import { writeOut } from '../../system/streams.js';
import { secretsOf } from '../../util/credentials.js';
import { shellWord } from '../../util/text.js';
import { colourOf } from '../output.js';
import { writeReports } from '../reports.js';
import { withRun } from '../run.js';
import { readHeaders } from '../target.js';
import { columnsOf, type ExitStatus, PROGRAM, type Terminal } from '../terminal.js';
import { runOnEachChange } from '../watch-command.js';
import { type CheckFlags, type CheckPlan, planCheck } from './plan.js';
import { callTool, checkedSecrets, readWitness, type Witness } from './witness.js';

/** `check`, from the flags to the exit status. */
export async function runCheck(
  word: string | undefined,
  flags: CheckFlags,
  terminal: Terminal,
  probes = runProbes,
): Promise<ExitStatus> {
  if (flags.list || flags.spec) return explainRules(flags, terminal);
  terminal.computes?.();
  const check = async () => checkOnce(await planCheck(word, flags, terminal), terminal, probes);
  return flags.watch ? runOnEachChange(flags.command, terminal, check) : check();
}

async function checkOnce(plan: CheckPlan, terminal: Terminal, probes: typeof runProbes): Promise<ExitStatus> {
  const { subject, flags } = plan;
  if (subject.kind === 'transcript')
    return reportAll(plan, await readWitness(subject.file, terminal), terminal);
  const { target } = subject;
  const query = target.kind === 'url' ? [...new URL(target.url).searchParams.values()] : []; // may hold a key
  const secrets = [...secretsOf(readHeaders(flags, terminal.env)), ...query];
  return withRun({ terminal, secrets, learning: checkedSecrets }, async run => {
    const witness = await callTool(target, plan, run, probes);
    return run.signal.aborted ? reportSoFar(plan, witness, terminal) : reportAll(plan, witness, terminal);
  });
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
async function judge(
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
async function reportSoFar(plan: CheckPlan, witness: Witness, { stderr }: Terminal): Promise<ExitStatus> {
  const run = await judge(plan, witness);
  const broken = findingsOf(run).filter(({ standing, about }) => standing === 'failed' && about !== 'case');
  const rows = broken.flatMap(each => findingLines(each, recordOf(witness)));
  const found = broken.length === 0 ? 'nothing was found broken so far' : `broken so far: ${broken.length}`;
  await writeOut(
    stderr,
    `interrupted without a verdict; ${found}\n${printed(rows, createTheme(0), columnsOf(stderr))}`,
  );
  return 3;
}

const STATUSES = { passed: 0, failed: 1, incomplete: 3 } as const satisfies Record<Verdict, ExitStatus>;

/** Writes the reports, and what GitHub shows of the job. */
async function reportAll(plan: CheckPlan, witness: Witness, terminal: Terminal): Promise<ExitStatus> {
  const { stdout, stderr } = terminal;
  const { reports, flags } = plan;
  const { recordings, redactor } = witness;
  const run = await judge(plan, witness);
  const events = recordings.flatMap(each => each.events);
  const warnings = counted(
    events.flatMap(event => (event.kind === 'warned' ? [{ message: redactor.text(event.message) }] : [])),
  );
  if (!flags.quiet) for (const warning of warnings) stderr.write(warningText(warning));
  const story: CheckStory = {
    target: witness.target,
    program: PROGRAM,
    run,
    warnings: warnings.map(({ message }) => message),
    record: recordOf(witness),
    whole: howToSeeWhole(plan),
  };
  const isQuiet = flags.quiet === true;
  const width = columnsOf(stdout);
  const drawn = { level: colourOf(stdout, flags, terminal), isQuiet, ...(width !== undefined && { width }) };
  const status = await writeReports(
    reports,
    ({ format, file }) => CHECK_FORMATS[format](story, file === null ? drawn : { level: 0, isQuiet }),
    terminal,
  );
  if (reports.some(({ format }) => format === 'github')) await addSummary(story, terminal);
  return STATUSES[run.verdict] || status;
}

/** What GitHub shows on the page of the job: it names the file, and others write there too. */
async function addSummary(story: CheckStory, { env, stderr }: Terminal): Promise<void> {
  const file = env['GITHUB_STEP_SUMMARY'];
  if (!file) return;
  const text = `### protocol-cli check\n\n${CHECK_FORMATS.markdown(story, { level: 0, isQuiet: false })}\n`;
  await appendFile(file, text).catch((cause: Error) => {
    const message = `the step summary of GitHub could not be written: ${cause.message}`;
    stderr.write(warningText({ message }));
  });
}

/** How to see the messages of a check whole: they are in its transcript. */
function howToSeeWhole({ subject, flags: { save } }: CheckPlan): string {
  if (save !== undefined) return `protocol-cli render ${shellWord(save)}`;
  if (subject.kind === 'tool')
    return 'check again with --save check.ndjson, then protocol-cli render check.ndjson';
  if (subject.file === '-') return 'save it to a file first, then protocol-cli render that file';
  return `protocol-cli render ${shellWord(subject.file)}`;
}

function recordOf({ target, file = target, recordings, redactor }: Witness): WireRecord {
  return { file, events: recordings.flatMap(({ events }) => events), redactor };
}
