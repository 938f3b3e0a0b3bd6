import { type Conformance, conformanceOf, type Row, type Verdict } from '../../check/conformance.js';
import { type Recording, recordingsOf } from '../../check/evidence.js';
import { judgeCases } from '../../check/judge-cases.js';
import type { OwnServer } from '../../check/probes/run.js';
import { runProbes } from '../../check/probes/run.js';
import { RUNS } from '../../check/repeats.js';
import { RULES } from '../../check/rules/index.js';
import { scenarioPlanIn } from '../../check/runtime-view.js';
import type { Event } from '../../events/events.js';
import { History } from '../../events/history.js';
import { createLog, type Log } from '../../events/log.js';
import type { EventRedactor } from '../../events/shareable.js';
import { missingFrom, readRecording } from '../../events/transcript-reader.js';
import { REQUIREMENT_IDS, type Warning } from '../../protocol/requirements.js';
import { shareableRun, type WireRecord } from '../../render/check-evidence.js';
import { findingsOf } from '../../render/check-findings.js';
import { findingLines, type ReportInput } from '../../render/check-report.js';
import { pluralize } from '../../render/line.js';
import { CHECK_FORMATS, ruleLines } from '../../render/outputs/check.js';
import { warningText } from '../../render/outputs/trouble.js';
import { createTheme } from '../../render/terminal/theme.js';
import { printed } from '../../render/terminal/wrap.js';
import { mergeWarnings } from '../../render/warnings.js';
import { verbosePrinter } from '../../render/wire.js';
import { Wire } from '../../runtime/wire.js';
import { createRunnableClock, finishedWithin } from '../../system/clock.js';
import { outputOf, writeOut } from '../../system/streams.js';
import { secretsOfHeaders } from '../../util/credentials.js';
import { ProtocolCliError } from '../../util/errors.js';
import { LIMITS } from '../../util/limits.js';
import { createRedactor, type Redactor } from '../../util/redact.js';
import { decodeUtf8, elapsedMs, firstWithRest, joinFirst, shellWord } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import { readHeaders } from '../headers.js';
import { readSource } from '../read-source.js';
import { columnsOf, writeReports } from '../reports.js';
import { asTrouble, type Run, withRun } from '../run.js';
import { saveTranscript } from '../save-transcript.js';
import { StartedServers, startTarget } from '../started-servers.js';
import { listenerOf, type ServerTarget } from '../target.js';
import { colourOf, type ExitStatus, linesSetting, PROGRAM, type Terminal } from '../terminal.js';
import { runOnEachChange } from '../watch-command.js';
import { type CheckFlags, type CheckPlan, planCheck } from './plan.js';
import {
  type Judged,
  judgeOnce,
  judgeWithRepeats,
  nameOfRun,
  type Repeat,
  requireFreePaths,
} from './repeat.js';
import { checkedSecrets, commandName } from './secrets.js';

export async function runCheck(
  word: string | undefined,
  flags: CheckFlags,
  terminal: Terminal,
  probes = runProbes,
): Promise<ExitStatus> {
  if (flags.list && flags.runtime !== undefined) return listScenarios(flags, terminal);
  if (flags.list || flags.spec) return explainRules(flags, terminal);
  const check = async () => checkOnce(await planCheck(word, flags, terminal), terminal, probes);
  if (!flags.watch) return check();
  const { runtime, command } = flags;
  if (runtime === undefined) return runOnEachChange(command, terminal, check);
  return runOnEachChange(runtime === true ? undefined : runtime, terminal, check, '--runtime');
}

async function checkOnce(plan: CheckPlan, terminal: Terminal, probes: typeof runProbes): Promise<ExitStatus> {
  const { subject, flags } = plan;
  const checked = { terminal, clock: createRunnableClock(), redactorFor: checkedSecrets };
  if (subject.kind === 'transcript') {
    const input = await readInput(subject.file, terminal);
    const sided = sidesIn(plan, input);
    return reportAll(sided, input, await judgeOnce(input.recordings, sided, RECORDED), terminal);
  }
  if (subject.kind === 'runtime')
    return withRun({ ...checked, observer: 'tool' }, run =>
      judgeRuns(plan, run, repeat => driveScenarios(subject.command, plan, run, repeat)),
    );
  const { target } = subject;
  const query = target.kind === 'url' ? [...new URL(target.url).searchParams.values()] : []; // may contain a key
  const headers = [
    readHeaders(flags, terminal.env),
    ...plan.cases.map(({ caller }) => caller?.headers ?? {}),
  ];
  const secrets = [...headers.flatMap(secretsOfHeaders), ...query];
  return withRun({ ...checked, secrets }, run =>
    judgeRuns(plan, run, repeat => callTool(target, plan, run, probes, repeat)),
  );
}

const RECORDED = 'a recording cannot be repeated';

const INTERRUPTED = 'interrupted before it was repeated';

/** Runs the probes or the scenarios, repeats those in which a rule failed, and reports. */
async function judgeRuns(
  plan: CheckPlan,
  { signal, terminal }: Run,
  tryOnce: (repeat?: Repeat) => Promise<CheckInput>,
): Promise<ExitStatus> {
  const input = await tryOnce();
  if (signal.aborted)
    return reportSoFar(plan, input, await judgeOnce(input.recordings, plan, INTERRUPTED), terminal);
  const judged = await judgeWithRepeats(input.recordings, plan, async repeat => {
    const { recordings } = await tryOnce(repeat);
    if (signal.aborted) throw new ProtocolCliError('interrupted', 'interrupted');
    return recordings;
  });
  const report = signal.aborted ? reportSoFar : reportAll;
  return report(plan, input, judged, terminal);
}

/** In the transcript of a scenario, the tools are ours and misbehave on purpose. */
function sidesIn(plan: CheckPlan, { recordings }: CheckInput): CheckPlan {
  const isScenario = recordings.some(({ events }) => scenarioPlanIn(events) !== undefined);
  return isScenario && plan.flags.side === undefined ? { ...plan, sides: ['runtime'] } : plan;
}

/** `--list` and `--spec`: prints the rules; nothing is checked. */
async function explainRules(
  { spec, color, side, only, skip }: CheckFlags,
  { stdout, env }: Terminal,
): Promise<ExitStatus> {
  const listed = REQUIREMENT_IDS.filter(
    id =>
      (side === undefined || RULES[id].side === side) && (only?.includes(id) ?? true) && !skip?.includes(id),
  );
  const theme = createTheme(colourOf(stdout, { color }, { env }));
  await writeOut(stdout, printed(ruleLines(spec ?? listed, spec !== undefined), theme, columnsOf(stdout)));
  return 0;
}

async function listScenarios(flags: CheckFlags, { stdout, env }: Terminal): Promise<ExitStatus> {
  const { scenarioLines } = await import('./runtime.js');
  const theme = createTheme(colourOf(stdout, flags, { env }));
  await writeOut(stdout, printed(scenarioLines(flags), theme, columnsOf(stdout)));
  return 0;
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
  const terms = { expectedFailures, sides, isStrict, gaps, scenarios, missingResults, exit };
  return shareableRun(conformanceOf(checks, judgeCases(cases, evidences), terms), redactor);
}

function scenarioTimes(recordings: readonly Recording[]) {
  return recordings.flatMap(({ events }) => {
    const { plan: id, unsupported } = scenarioPlanIn(events) ?? {};
    if (id === undefined) return [];
    const ms = elapsedMs(events.at(-1)?.at ?? 0, events[0]?.at ?? 0);
    return [{ id, ms, ...(unsupported && { unsupported }) }];
  });
}

/** Prints the failures found before the user stopped the check. A report would be incomplete. */
async function reportSoFar(
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

const STATUSES = { passed: 0, failed: 1, incomplete: 3 } as const satisfies Record<Verdict, ExitStatus>;

async function reportAll(
  plan: CheckPlan,
  input: CheckInput,
  judged: Judged,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { stderr } = terminal;
  const { reports, flags } = plan;
  const { recordings, redactor } = input;
  const run = conclude(plan, input, judged);
  const warnings = [...warningsIn(recordings, redactor), ...(input.warnings ?? [])];
  if (!flags.quiet) for (const warning of warnings) stderr.write(warningText(warning));
  const story: ReportInput = {
    target: input.target,
    program: PROGRAM,
    run,
    warnings: warnings.map(({ message }) => message),
    record: recordOf(input, judged),
    whole: howToSeeWhole(plan, run),
  };
  const options = { reporters: CHECK_FORMATS, command: 'check', flags };
  const status = await writeReports(reports, story, options, terminal);
  return STATUSES[run.verdict] || status;
}

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
  if (save !== undefined) return `protocol-cli render ${shellWord(save)}`;
  if (subject.kind !== 'transcript')
    return 'check again with --save check.ndjson, then protocol-cli render check.ndjson';
  if (subject.file === '-') return 'save it to a file first, then protocol-cli render that file';
  return `protocol-cli render ${shellWord(subject.file)}`;
}

/** Of the first rule that did not pass. */
function howToSeeScenario(save: string | undefined, checks: readonly Row[]): string {
  const rows = checks.toSorted(
    (one, other) => Number(other.standing === 'failed') - Number(one.standing === 'failed'),
  );
  const [name = '<scenario>'] = rows.flatMap(({ scenarios = [] }) => scenarios);
  const show = `protocol-cli render ${shellWord(`${save ?? 'out'}/${name}.ndjson`)}`;
  return save === undefined ? `check again with --scenario ${name} --save out, then ${show}` : show;
}

function recordOf(
  { target, file = target, recordings, redactor }: CheckInput,
  { repeats }: Judged,
): WireRecord {
  return { file, events: recordings.flatMap(({ events }) => events), repeats, redactor };
}

/** What is judged: recorded calls or a file. */
interface CheckInput {
  /** The URL or the file, for the report. */
  readonly target: string;
  /** The file for line numbers (default: the target). */
  readonly file?: string;
  readonly recordings: readonly Recording[];
  /** Warnings that are in no recording. */
  readonly warnings?: readonly Warning[];
  readonly gaps: Conformance['gaps'];
  readonly redactor: EventRedactor;
}

/** Numbers of errors of a transcript that are shown, and of gaps in a report. */
const SHOWN = { faults: 8, gaps: 50 };

/** Reads a saved transcript; missing parts become gaps. @throws ProtocolCliError `unreadable-file`. */
async function readInput(file: string, { stdin }: Pick<Terminal, 'stdin'>): Promise<CheckInput> {
  const name = file === '-' ? 'standard input' : file;
  const bytes = await readSource(file, stdin, LIMITS.checkedBytes.value);
  const transcript = readRecording(name, bytes);
  if (!transcript) {
    const isEmpty = decodeUtf8(bytes)?.trim() === '';
    const why = isEmpty ? 'it is empty' : 'it is not a transcript';
    throw new ProtocolCliError('unreadable-file', `cannot check ${name}: ${why}`, {
      hint: 'A transcript is written by --save, by -o ndjson and by record; a single message, or a report, can only be shown: protocol-cli render.',
    });
  }
  const { events, faults } = transcript;
  if (events.length === 0 && faults.length > 0)
    throw new ProtocolCliError('unreadable-file', `no line of ${name} could be read`, {
      faults: firstWithRest(faults, SHOWN.faults),
    });
  const redactor = checkedSecrets(createRedactor());
  for (const event of events) redactor.learn(event);
  const missing = firstWithRest([...faults, ...missingFrom(transcript)], SHOWN.gaps);
  const recordings = events.length === 0 ? [] : recordingsOf([transcript]);
  return { target: name, recordings, gaps: missing.map(fault => gapOf(name, fault)), redactor };
}

/** Converts an error such as `line 7: not valid JSON` to a gap. */
function gapOf(name: string, fault: string) {
  const [, line, reason = fault] = /^line (\d+): (.*)$/s.exec(fault) ?? [];
  return { place: line === undefined ? name : `${name}:${line}`, reason };
}

/** How long interrupted probes may take to end, in ms. */
const PROBE_STOP_MS = 500;

const QUERY_UNSENT = 'the query of the URL is not sent; pass credentials with -H or --bearer';

/**
 * Runs all probes against a tool until they are done or the user stops them; then stops what was started.
 * @throws ProtocolCliError `unreachable`, `no-discovery` if there is nothing to check, `unwritable-file` for `--save`.
 */
async function callTool(
  target: ServerTarget,
  plan: CheckPlan,
  run: Run,
  probes: typeof runProbes,
  repeat: Repeat | undefined,
): Promise<CheckInput> {
  const { about, clock, redactor, interrupted } = run;
  const { save } = plan.flags;
  const events: Event[] = [];
  const log = createLog(clock.now, clock.runnable);
  log.subscribe(event => redactor.learn(event));
  log.subscribe(event => void events.push(event));
  if (target.kind === 'url' && new URL(target.url).search !== '')
    log.emit({ kind: 'warned', message: QUERY_UNSENT });
  const lines = new Map<number, number>();
  if (save !== undefined && save !== '-' && !repeat) await requireFreePaths(save);
  const path = save && nameOfRun(save, repeat?.run ?? 1);
  const endTranscript = await saveTranscript(log, path, redactor, about, {
    onLine: (seq, line) => void lines.set(seq, line),
    onForcedEnd: run.stderr.write,
  });
  const probing = probe(target, plan, run, log, probes, repeat);
  const trouble = await interrupted.race(probing).then(() => null, asTrouble);
  await run.stopStarted();
  await finishedWithin(Promise.allSettled([probing]), PROBE_STOP_MS); // so that nothing happens after the end
  const isWhole = !run.signal.aborted;
  const reason = isWhole ? (trouble?.code ?? 'done') : 'interrupted';
  const unwritten = await endTranscript(reason).then(() => null, asTrouble);
  const failure = trouble ?? unwritten;
  if (failure && isWhole) throw failure;
  const recording = { observer: 'runtime', events, isWhole } as const;
  return {
    target: nameOf(target),
    ...(save !== undefined && { file: save }),
    recordings: [{ ...recording, ...(save !== undefined && { lines }) }],
    gaps: [],
    redactor,
  };
}

async function probe(
  target: ServerTarget,
  { flags, cases, selection: { only, skip } }: CheckPlan,
  { redactor, terminal, onStop, signal, clock, openClient }: Run,
  log: Log,
  probes: typeof runProbes,
  repeat: Repeat | undefined,
): Promise<void> {
  const { verbose, quiet, operation: operations = [], probeTimeout: probeTimeoutMs } = flags;
  const progress = progressOn(terminal, quiet === true, repeat);
  onStop(async () => progress.end());
  progress.begin();
  if (verbose) log.subscribe(verbosePrinter(redactor, progress.printLine));
  const print = (text: string) => progress.printLine(redactor.text(text));
  const history = new History();
  history.keepRecent(new Set());
  log.subscribe(event => history.apply(event));
  const servers = new StartedServers(log, {
    calls: () => history.exchanges.values(),
    onStderr: verbose ? print : null,
  });
  const client = openClient();
  const wireTo = (url: string) => new Wire(log, client, url, readHeaders(flags, terminal.env));
  const start = { ...servers.options, signal };
  const url = await startTarget(target, {
    ...start,
    onStop,
    ...(!quiet && !repeat && { onRemark: text => print(`${visibleLine(text)}\n`) }),
  });
  const server: OwnServer = {
    settle: () => servers.settle(),
    async startAgain() {
      const stops: (() => Promise<void>)[] = [];
      const stop = async () => void (await Promise.all(stops.map(each => each())));
      onStop(stop);
      const again = await startTarget(target, { ...start, onStop: each => void stops.push(each) });
      return { wire: wireTo(again), stop };
    },
  };
  await probes({
    operations,
    cases,
    probeTimeoutMs,
    clock,
    signal,
    wire: wireTo(url),
    server: target.kind === 'command' && !repeat ? server : undefined,
    listener: listenerOf({ ...flags, maxBody: LIMITS.messageBytes.value }),
    wants: id => (only?.has(id) ?? true) && !skip?.has(id),
    onConsent: consent => progress.printLine(`visit this URL to continue: ${visibleLine(consent)}\n`),
    onProgress: (done, total) => progress.update(done, total),
    ...(repeat && { repeats: repeat.failed }),
  });
  progress.end();
}

/** Runs the scenarios against a runtime until they are done or the user stops them. */
async function driveScenarios(
  command: string,
  { flags }: CheckPlan,
  run: Run,
  repeat: Repeat | undefined,
): Promise<CheckInput> {
  const { driveRuntime } = await import('./runtime.js');
  const progress = progressOn(run.terminal, flags.quiet === true, repeat);
  const driven = await driveRuntime(command, flags, run, progress, repeat);
  return { target: commandName(command, '--runtime'), ...driven, gaps: [], redactor: run.redactor };
}

/** Returns the name of a target in reports, without secrets (threats, row 25). */
function nameOf(target: ServerTarget): string {
  if (target.kind === 'demo') return 'the bundled demo';
  return target.kind === 'command' ? commandName(target.command) : target.url.replace(/[?#].*$/s, '');
}

const CLEAR = '\r\u001b[2K';

/** Shows one line on the terminal that is overwritten, and erased at the end; `printLine` prints text that stays. */
function progressOn(
  { stderr, env }: Pick<Terminal, 'stderr' | 'env'>,
  isQuiet: boolean,
  repeat: Repeat | undefined,
) {
  const isDrawn = stderr.isTTY === true && env['TERM'] !== 'dumb' && linesSetting(env) === null && !isQuiet;
  const what = repeat
    ? `repeating what failed: ${joinFirst(
        repeat.failed.map(({ id }) => id),
        MAX_NAMES,
      )} (run ${repeat.run} of ${RUNS})`
    : 'checking';
  let line = '';
  const output = outputOf(stderr);
  const draw = (text: string) => {
    if (isDrawn && text !== line) output.write(`${CLEAR}${text}`);
    line = text;
  };
  return {
    begin: () => draw(`${what} …`),
    update: (done: number, total: number, name?: string) =>
      draw(`${what} … ${done} of ${total}${name === undefined ? '' : ` · ${name}`}`),
    printLine(text: string): Promise<void> {
      const shown = line;
      draw('');
      const isTaken = output.take(text);
      draw(shown);
      return isTaken;
    },
    end: () => draw(''),
  };
}
