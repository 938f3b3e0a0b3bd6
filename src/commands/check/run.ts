import { appendFile } from 'node:fs/promises';
import { type Conformance, conformanceOf, type Gap, judgeCases, type Verdict } from '../../check/cases.js';
import { recordingsOf, seenFrom } from '../../check/evidence/seen-from.js';
import { runProbes } from '../../check/probes/run-probes.js';
import { checksOf } from '../../check/report.js';
import {
  isTranscript,
  missingFrom,
  readTranscripts,
  type Transcript,
  withoutReadyLines,
} from '../../events/transcript-reader.js';
import { REQUIREMENTS, type RequirementId } from '../../protocol/requirements.js';
import { ruleLine, shareableRun, specLines } from '../../render/check-report.js';
import { rowLines } from '../../render/check-requests.js';
import type { Line } from '../../render/line.js';
import { CHECK_FORMATS } from '../../render/outputs/check.js';
import type { CheckLook, CheckStory } from '../../render/outputs/check-schema.js';
import { warningText } from '../../render/outputs/trouble.js';
import { colourLevel } from '../../render/terminal/colour-level.js';
import { createTheme, printed } from '../../render/terminal/theme.js';
import { counted } from '../../render/warnings.js';
import { systemClock } from '../../system/drafts.js';
import { writeOut } from '../../system/streams.js';
import { ProtocolCliError } from '../../util/errors.js';
import { createRedactor } from '../../util/redact.js';
import { byteLines, shellWord } from '../../util/strings.js';
import { readSource, writeReports } from '../read-source.js';
import type { ReporterOptionReportRequest as ReportRequest } from '../reports.js';
import { checkedSecrets, recordOf, type Witness } from '../save-files.js';
import { columnsOf, type ExitStatus, PROGRAM, type Terminal } from '../terminal.js';
import { type Making, watchTool } from './live.js';
import { type CheckFlags, type CheckPlan, planCheck } from './plan.js';

const IDS = Object.keys(REQUIREMENTS) as RequirementId[];

/** `--list` and `--spec`: the rules themselves; nothing is checked. */
async function explainRules(flags: CheckFlags, terminal: Terminal): Promise<ExitStatus> {
  const { spec, color } = flags;
  const { stdout, env } = terminal;
  const lines = spec
    ? spec.flatMap((id, index) => [...gap(index), ...specLines(id)])
    : listed(flags).map(ruleLine);
  const theme = createTheme(colourLevel({ env, isTTY: stdout.isTTY === true, noColor: !color }));
  await writeOut(stdout, printed(lines, theme, columnsOf(stdout)));
  return 0;
}

function gap(index: number): Line[] {
  return index === 0 ? [] : [[]];
}

function listed({ side, only, skip }: CheckFlags): RequirementId[] {
  return IDS.filter(id => side === undefined || REQUIREMENTS[id].side === side).filter(
    id => (only?.includes(id) ?? true) && !skip?.includes(id),
  );
}

const LARGEST = 256 * 1024 * 1024;
/** Bytes that are enough to see what a file is. */
const HEAD = 256 * 1024;
/** Errors that are shown; the rest follow when these are fixed. */
const MOST_FAULTS = 8;
const MOST_GAPS = 50;

/**
 * What somebody saved: of transcripts that were joined, each is a recording of its own; what of them was lost is a gap.
 * @throws ProtocolCliError `unreadable-file` for what is no transcript.
 */
async function readWitness(file: string, { stdin }: Pick<Terminal, 'stdin'>): Promise<Witness> {
  const name = file === '-' ? 'standard input' : file;
  const bytes = await readSource(file, stdin, LARGEST);
  if (!isTranscript(new TextDecoder().decode(bytes.subarray(0, HEAD)))) throw noTranscript(name, bytes);
  const transcripts = readTranscripts(withoutReadyLines(byteLines(bytes)));
  const faults = transcripts.flatMap(each => each.faults);
  const saved = transcripts.filter(({ events }) => events.length > 0);
  if (saved.length === 0 && faults.length > 0) throw unreadable(name, faults);
  const recordings = recordingsOf(saved);
  const redactor = checkedSecrets(createRedactor());
  for (const { events } of recordings) for (const event of events) redactor.learn(event);
  const gaps = gapsIn(name, allMissing(transcripts));
  return { target: name, recordings, gaps, redactor };
}

/** What of each is not there, named where there are several. */
function allMissing(transcripts: readonly Transcript[]): readonly string[] {
  const { length } = transcripts;
  return transcripts.flatMap((each, index) => [
    ...each.faults,
    ...missingFrom(each, length === 1 ? '' : `transcript ${index + 1} of ${length}: `),
  ]);
}

/** Of many the first: one is enough to keep a run from being green. */
function gapsIn(name: string, faults: readonly string[]): readonly Gap[] {
  const told = faults.slice(0, MOST_GAPS).map(fault => gapIn(name, fault));
  const more = faults.length - told.length;
  return more > 0 ? [...told, { place: name, reason: `and ${more} more` }] : told;
}

/** `line 7: not valid JSON` of a file. */
function gapIn(name: string, fault: string): Gap {
  const [, line, reason = fault] = /^line (\d+): (.*)$/s.exec(fault) ?? [];
  return { place: line === undefined ? name : `${name}:${line}`, reason };
}

/** What else `render` shows says too little: rules need to know what was sent, and when. */
function noTranscript(name: string, bytes: Uint8Array): ProtocolCliError {
  const isEmpty = bytes.every(byte => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09);
  return new ProtocolCliError(
    'unreadable-file',
    `cannot check ${name}: ${isEmpty ? 'it is empty' : 'it is not a transcript'}`,
    {
      hint: 'A transcript is written by --save, by -o ndjson and by record; a single message, or a report, can only be shown: protocol-cli render.',
    },
  );
}

function unreadable(name: string, faults: readonly string[]): ProtocolCliError {
  const more = faults.length - MOST_FAULTS;
  return new ProtocolCliError('unreadable-file', `no line of ${name} could be read`, {
    faults: more > 0 ? [...faults.slice(0, MOST_FAULTS), `and ${more} more`] : faults,
  });
}

/** What the rules, and the cases, say of what happened; nothing secret is left in it. */
async function judgeAll(
  { sides, selection, cases, excuses, flags }: CheckPlan,
  { recordings, gaps, redactor }: Witness,
): Promise<Conformance> {
  const sights = await Promise.all(
    sides.map(async side => ({ side, evidences: await Promise.all(recordings.map(seenFrom(side))) })),
  );
  const checks = sights.flatMap(({ side, evidences }) => checksOf(side, evidences, selection));
  const judged = judgeCases(cases, sights[0]?.evidences ?? []);
  const run = conformanceOf(checks, judged, { excuses, sides, isStrict: flags.strict === true, gaps });
  return shareableRun(run, redactor);
}

const STATUSES: Readonly<Record<Verdict, ExitStatus>> = { passed: 0, failed: 1, incomplete: 3 };

function statusOfVerdict(verdict: Verdict): ExitStatus {
  return STATUSES[verdict];
}

/** What was broken until somebody stopped it: no report is made of it, since nobody knows what else would have come. */
async function tellSoFar(plan: CheckPlan, witness: Witness, { stderr }: Terminal): Promise<void> {
  const { checks } = await judgeAll(plan, witness);
  const broken = checks.filter(({ standing }) => standing === 'failed');
  const record = recordOf(witness);
  const rows = broken.flatMap(row => rowLines(row, record));
  const said = broken.length === 0 ? 'nothing was found broken so far' : `broken so far: ${broken.length}`;
  await writeOut(
    stderr,
    `interrupted: there is no verdict; ${said}\n${printed(rows, createTheme(0), columnsOf(stderr))}`,
  );
}

/** The reports that were asked for, and what GitHub shows of the job. Returns the status for one that could not be written; else 0. */
async function tellReports(
  story: CheckStory,
  { reports, flags }: CheckPlan,
  terminal: Terminal,
): Promise<ExitStatus> {
  const textOf = (report: ReportRequest) => {
    return CHECK_FORMATS[report.format](story, lookOf(report, flags, terminal));
  };
  const status = await writeReports(reports, textOf, terminal);
  if (reports.some(({ format }) => format === 'github')) await addSummary(story, terminal);
  return status;
}

/** A file has no colours, and no width. */
function lookOf(
  { file }: ReportRequest,
  { color, quiet: isQuiet = false }: CheckFlags,
  { stdout, env }: Terminal,
): CheckLook {
  const isTTY = stdout.isTTY === true;
  if (file !== null) return { level: 0, isQuiet };
  const width = columnsOf(stdout);
  const level = colourLevel({ env, isTTY, noColor: !color });
  return { level, isQuiet, ...(width !== undefined && { width }) };
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
  const plan = await planCheck(word, flags, terminal);
  if (plan.subject.kind === 'transcript')
    return conclude(plan, await readWitness(plan.subject.file, terminal), terminal);
  const witness = await watchTool(plan.subject.target, plan, terminal, making);
  const { interrupted } = witness;
  if (interrupted === undefined) return conclude(plan, witness, terminal);
  await tellSoFar(plan, witness, terminal);
  return interrupted;
}

async function conclude(plan: CheckPlan, witness: Witness, terminal: Terminal): Promise<ExitStatus> {
  const run = await judgeAll(plan, witness);
  const warnings = warningsIn(witness);
  if (!plan.flags.quiet) for (const warning of warnings) terminal.stderr.write(warningText(warning));
  const status = await tellReports(
    {
      target: witness.target,
      program: PROGRAM,
      run,
      warnings: warnings.map(({ message }) => message),
      record: recordOf(witness),
      whole: howToSeeWhole(plan),
    },
    plan,
    terminal,
  );
  return statusOfVerdict(run.verdict) || status;
}

/** What was worth a word while it happened. */
function warningsIn(witness: Witness) {
  const { target, recordings, redactor } = witness;
  const several = `${target} holds ${recordings.length} transcripts, one after the other: each is judged separately`;
  const told = recordings
    .flatMap(({ events }) => events)
    .flatMap(event => (event.kind === 'warned' ? [{ message: redactor.text(event.message) }] : []));
  return counted([...(recordings.length > 1 ? [{ message: several }] : []), ...told]);
}
