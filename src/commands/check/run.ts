import { scenarioPlanIn } from '../../check/driver-evidence.js';
import { runProbes } from '../../check/probes/run.js';
import { RULES } from '../../check/rules/index.js';
import { REQUIREMENT_IDS } from '../../protocol/requirements.js';
import { ruleLines } from '../../render/outputs/check.js';
import { createTheme } from '../../render/terminal/theme.js';
import { printed } from '../../render/terminal/wrap.js';
import { createRunnableClock } from '../../system/clock.js';
import { writeOut } from '../../system/streams.js';
import { secretsOfHeaders } from '../../util/credentials.js';
import { ProtocolCliError } from '../../util/errors.js';
import { shellWord } from '../../util/shell-word.js';
import { visibleLine } from '../../util/visible.js';
import { readHeaders } from '../headers.js';
import { columnsOf } from '../reports.js';
import { type Run, withRun } from '../run.js';
import { colourOf, type ExitStatus, type Terminal } from '../terminal.js';
import { runOnEachChange } from '../watch-command.js';
import { callTool } from './call-tool.js';
import { type CheckFlags, type CheckPlan, planCheck } from './plan.js';
import { progressOn } from './progress.js';
import { type CheckInput, readInput } from './read-input.js';
import { judgeOnce, judgeWithRepeats, type Repeat } from './repeat.js';
import { reportAll, reportSoFar } from './report.js';
import { checkedSecrets, commandName } from './secrets.js';

export async function runCheck(
  argument: string | undefined,
  flags: CheckFlags,
  terminal: Terminal,
  probes = runProbes,
): Promise<ExitStatus> {
  if (flags.list && flags.runtime !== undefined) return listScenarios(flags, terminal);
  if (flags.list || flags.spec) return explainRules(flags, terminal);
  const check = async () => checkOnce(await planCheck(argument, flags, terminal), terminal, probes);
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
    const sided = isOfMcp(input) ? unjudged(plan, subject.file, terminal) : sidesIn(plan, input);
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

/** Whether every message of a recording went over MCP. */
function isOfMcp({ recordings }: CheckInput): boolean {
  const requests = recordings.flatMap(({ events }) => events).filter(event => event.kind === 'request');
  return requests.length > 0 && requests.every(({ dialect }) => dialect === 'mcp');
}

/** Prints one line instead of a report on stdout, in which no rule would apply. */
function unjudged(plan: CheckPlan, file: string, { stderr }: Terminal): CheckPlan {
  stderr.write(
    `not checked: ${visibleLine(file)} has calls over MCP, and the rules of check are those of RAP. Show the calls with: protocol-cli render ${shellWord(file, process.platform)}\n`,
  );
  return {
    ...plan,
    reports: plan.reports.filter(({ format, file: to }) => format !== 'human' || to !== null),
  };
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
