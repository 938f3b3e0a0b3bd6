import { access, constants, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { driverOf } from '../../check/drive/driver.js';
import { runScenarios, SCENARIOS } from '../../check/drive/run.js';
import type { Scenario } from '../../check/drive/scenario.js';
import { isSuccess } from '../../protocol/http-status.js';
import type { Warning } from '../../protocol/requirements.js';
import { type Line, line, say } from '../../render/line.js';
import { verbosePrinter } from '../../render/wire.js';
import { readError } from '../../system/file-system-errors.js';
import { errnoOf, messageOf, ProtocolCliError } from '../../util/errors.js';
import { didYouMean, formatDuration } from '../../util/text.js';
import { usageError } from '../options.js';
import type { Run } from '../run.js';
import { saveTranscript } from '../save-transcript.js';
import { serverOutput } from '../started-servers.js';
import type { CheckFlags } from './plan.js';
import type { Progress } from './progress.js';
import { nameOfRun, type Repeat, requireFreePaths } from './repeat.js';

/** The scenarios with these names, else those that test these rules, else all. @throws ProtocolCliError `usage` for an unknown name */
function scenariosOf({ scenario: names, only }: Pick<CheckFlags, 'scenario' | 'only'>): readonly Scenario[] {
  const known = SCENARIOS.map(({ name }) => name);
  const unknown = names?.find(name => !known.includes(name));
  if (unknown !== undefined)
    throw usageError(
      `unknown scenario "${unknown}"`,
      didYouMean(unknown, known) || '`protocol-cli check --runtime --list` shows all scenarios.',
    );
  return SCENARIOS.filter(
    ({ name, checks }) => names?.includes(name) ?? (!only || checks.some(id => only.includes(id))),
  );
}

/** The scenarios in which a rule failed; those that test it, if its row names none. */
function scenariosToRepeat({ failed }: Repeat): readonly Scenario[] {
  return SCENARIOS.filter(({ name, checks }) =>
    failed.some(({ id, scenarios }) => scenarios?.includes(name) ?? checks.includes(id)),
  );
}

/** One line for each scenario: its name, what it is, what it tests. */
export function scenarioLines(flags: CheckFlags): readonly Line[] {
  const scenarios = scenariosOf(flags);
  const width = Math.max(...scenarios.map(({ name }) => name.length));
  return scenarios.map(
    ({ name, title, checks }) =>
      line`${say(name.padEnd(width), 'title')}${say('  ', 'gutter')}${say(title)}  ${say(checks.join(' '), 'dim')}`,
  );
}

/** Creates the folder for the transcripts, none of which may exist yet. @throws ProtocolCliError `usage`, `unwritable-file` */
async function prepareFolder(path: string, scenarios: readonly Scenario[]): Promise<void> {
  if (path === '-') throw usageError('--save needs the name of a folder with --runtime');
  const there = await stat(path).catch(() => null);
  if (there && !there.isDirectory())
    throw usageError(
      `--save ${path}: it is not a folder`,
      'With --runtime, --save names a folder for one transcript per scenario.',
    );
  await mkdir(path, { recursive: true }).catch((cause: unknown) => {
    const why = errnoOf(cause) === 'ENOTDIR' ? 'a part of its path is a file' : messageOf(cause);
    throw new ProtocolCliError('unwritable-file', `could not create the folder ${path}: ${why}`, { cause });
  });
  for (const { name } of scenarios) await requireFreePaths(join(path, `${name}.ndjson`));
}

/** Accepts a log that the runtime has not created yet. @throws ProtocolCliError `unreadable-file` */
async function requireReadable(path: string): Promise<void> {
  try {
    if (!(await stat(path)).isFile()) throw new Error('it is not a file');
    await access(path, constants.R_OK);
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return;
    throw await readError(path, cause, '--log names the file to which the runtime writes its own log.');
  }
}

/** Runs the scenarios against a runtime, with the command of its driver; with `--save`, writes a transcript of each. @throws ProtocolCliError `usage`, `command-failed`, `unwritable-file` */
export async function driveRuntime(
  command: string,
  flags: CheckFlags,
  { clock, signal, redactor, about, stderr }: Run,
  progress: Progress,
  repeat: Repeat | undefined,
) {
  const { save, verbose, quiet, model, probeTimeout: windowMs, readyTimeout: startMs, log: logPath } = flags;
  const scenarios = repeat ? scenariosToRepeat(repeat) : scenariosOf(flags);
  if (save !== undefined && !repeat) await prepareFolder(save, scenarios);
  if (logPath !== undefined) await requireReadable(logPath);
  const print = (text: string) => progress.printLine(redactor.text(text));
  const warnings: Warning[] = [];
  const recordings = await runScenarios(scenarios, {
    clock,
    windowMs,
    startMs,
    signal,
    onProgress: progress.update,
    open: driverOf(command, model),
    onWarning: message => void warnings.push({ message }),
    onContactLost(status) {
      if (repeat) return;
      const limit = `${formatDuration(windowMs)} (--probe-timeout)`;
      const answer = status === null || isSuccess(status) ? '' : `; its callback was answered ${status}`;
      const message = `the model got no result of an ordinary call within ${limit}${answer}; until it got one, later waits were shorter`;
      warnings.push({ message });
      if (!quiet) progress.printLine('an ordinary result did not reach the model; later waits are short\n');
    },
    onSilence: message => quiet || progress.printLine(`${message}\n`),
    logPath,
    isRepetition: repeat !== undefined,
    async onStart({ name }, log) {
      const output = serverOutput(print, name);
      log.subscribe(event => redactor.learn(event));
      if (verbose) log.subscribe(verbosePrinter(redactor, print));
      const path = save === undefined ? undefined : nameOfRun(join(save, `${name}.ndjson`), repeat?.run ?? 1);
      const own = { ...about, observer: 'tool' } as const;
      const endTranscript = await saveTranscript(log, path, redactor, own, { onForcedEnd: stderr.write });
      return {
        ...(verbose && { onStderr: output.add }),
        async end() {
          output.end();
          await endTranscript(signal.aborted ? 'interrupted' : 'done');
        },
      };
    },
  }).finally(progress.end);
  return { recordings, warnings };
}
