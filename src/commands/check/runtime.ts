import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { driverOf } from '../../check/runtime/driver.js';
import { LogFile } from '../../check/runtime/findings.js';
import type { ProviderName } from '../../check/runtime/model.js';
import { runScenarios, type ScenarioRecording } from '../../check/runtime/run.js';
import type { Scenario } from '../../check/runtime/scenario.js';
import { SCENARIOS } from '../../check/runtime/scenarios.js';
import type { RequirementId } from '../../protocol/requirements.js';
import { type Line, line, say } from '../../render/line.js';
import { verboseTeller } from '../../render/wire.js';
import { errnoOf, messageOf, ProtocolCliError } from '../../util/errors.js';
import { didYouMean } from '../../util/text.js';
import { saveTranscript } from '../event-output.js';
import { usage } from '../options.js';
import type { Run } from '../run.js';
import { byLine, serverLines } from '../target.js';

/** Options of `check --runtime`. */
export interface RuntimeFlags {
  /** The command of the driver; true if `--runtime` was given without one. */
  readonly runtime?: string | true;
  readonly scenario?: readonly string[];
  readonly model?: ProviderName;
  /** The file of the runtime's own log. */
  readonly log?: string;
  /** Milliseconds. */
  readonly probeTimeout: number;
  /** A folder. */
  readonly save?: string;
  readonly verbose?: boolean;
}

interface ScenarioSelection extends Pick<RuntimeFlags, 'scenario'> {
  readonly only?: readonly RequirementId[];
}

/** The scenarios with these names, else those that test these rules, else all. @throws ProtocolCliError `usage` for an unknown name */
export function scenariosOf({ scenario: names, only }: ScenarioSelection): readonly Scenario[] {
  const known = SCENARIOS.map(({ name }) => name);
  const unknown = names?.find(name => !known.includes(name));
  if (unknown !== undefined)
    throw usage(
      `unknown scenario "${unknown}"`,
      didYouMean(unknown, known) || '`protocol-cli check --runtime --list` shows all scenarios.',
    );
  return SCENARIOS.filter(
    ({ name, checks }) => names?.includes(name) ?? (!only || checks.some(id => only.includes(id))),
  );
}

/** One line for each scenario: its name, what it is, what it tests. */
export function scenarioLines(scenarios: readonly Scenario[]): readonly Line[] {
  const width = Math.max(...scenarios.map(({ name }) => name.length));
  return scenarios.map(
    ({ name, title, checks }) =>
      line`${say(name.padEnd(width), 'title')}${say('  ', 'gutter')}${say(title)}  ${say(checks.join(' '), 'dim')}`,
  );
}

/** Creates the folder of the transcripts. @throws ProtocolCliError `usage`, `unwritable-file` */
export async function prepareFolder(path: string): Promise<void> {
  if (path === '-') throw usage('--save needs the name of a folder with --runtime');
  const there = await stat(path).catch(() => null);
  if (there && !there.isDirectory())
    throw usage(
      `--save ${path}: it is not a folder`,
      'With --runtime, --save names a folder for one transcript per scenario.',
    );
  await mkdir(path, { recursive: true }).catch((cause: unknown) => {
    const why = errnoOf(cause) === 'ENOTDIR' ? 'a part of its path is a file' : messageOf(cause);
    throw new ProtocolCliError('unwritable-file', `could not create the folder ${path}: ${why}`, { cause });
  });
}

interface RuntimeCheck {
  readonly command: string;
  readonly scenarios: readonly Scenario[];
  readonly flags: RuntimeFlags;
  readonly onProgress: (done: number, total: number, name: string) => void;
  readonly onWarning: (message: string) => void;
  /** Prints text that stays above the progress line. */
  readonly print: (text: string) => void;
}

/** Runs the scenarios against a runtime; with `--save`, writes a transcript of each. @throws ProtocolCliError `command-failed`, `unwritable-file` */
export async function driveRuntime(
  { command, scenarios, flags, onProgress, onWarning, print }: RuntimeCheck,
  { clock, signal, redactor, about, stderr }: Run,
): Promise<readonly ScenarioRecording[]> {
  const { save, verbose, model, probeTimeout: windowMs, log: logPath } = flags;
  const output = new Map<string, ReturnType<typeof byLine>>();
  const ends = new Map<string, (reason: string) => Promise<void>>();
  return runScenarios(scenarios, {
    ...{ open: driverOf(command, model), clock, windowMs, signal, onProgress, onWarning },
    ...(logPath !== undefined && { logFile: new LogFile(logPath) }),
    ...(verbose && { onStderr: (name: string, text: string) => output.get(name)?.add(text) }),
    async onStart({ name }, log) {
      output.set(
        name,
        byLine(text => print(serverLines(text, name))),
      );
      log.subscribe(event => redactor.learn(event));
      if (verbose) log.subscribe(verboseTeller(redactor, print));
      const path = save === undefined ? undefined : join(save, `${name}.ndjson`);
      ends.set(name, await saveTranscript(log, path, redactor, { ...about, observer: 'tool' }, { stderr }));
    },
    async onEnd({ name }) {
      output.get(name)?.end();
      await ends.get(name)?.(signal.aborted ? 'interrupted' : 'done');
    },
  });
}
