import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { commandDriver, type OpenDriver } from '../../check/runtime/driver.js';
import { runScenarios, type ScenarioRecording } from '../../check/runtime/run.js';
import type { Scenario } from '../../check/runtime/scenario.js';
import { SCENARIOS } from '../../check/runtime/scenarios.js';
import { type Line, line, say } from '../../render/line.js';
import { didYouMean } from '../../util/text.js';
import { saveTranscript } from '../event-output.js';
import { usage } from '../options.js';
import type { Run } from '../run.js';

/** Options of `check --runtime`. */
export interface RuntimeFlags {
  /** The command of the driver; true if `--runtime` was given without one. */
  readonly runtime?: string | true;
  readonly scenario?: readonly string[];
  /** Milliseconds. */
  readonly probeTimeout: number;
  /** A folder. */
  readonly save?: string;
  readonly verbose?: boolean;
}

/** @throws ProtocolCliError `usage` for an unknown name */
export function scenariosOf({ scenario: names }: Pick<RuntimeFlags, 'scenario'>): readonly Scenario[] {
  const known = SCENARIOS.map(({ name }) => name);
  const unknown = names?.find(name => !known.includes(name));
  if (unknown !== undefined)
    throw usage(
      `unknown scenario "${unknown}"`,
      didYouMean(unknown, known) || '`protocol-cli check --runtime --list` shows all scenarios.',
    );
  return SCENARIOS.filter(({ name }) => names?.includes(name) ?? true);
}

/** One line for each scenario: its name, what it is, what it tests. */
export function scenarioLines(scenarios: readonly Scenario[]): readonly Line[] {
  const width = Math.max(...scenarios.map(({ name }) => name.length));
  return scenarios.map(
    ({ name, title, checks }) =>
      line`${say(name.padEnd(width), 'title')}  ${title} ${say(checks.join(' '), 'dim')}`,
  );
}

interface RuntimeCheck {
  readonly command: string;
  readonly scenarios: readonly Scenario[];
  readonly flags: RuntimeFlags;
  readonly onProgress: (done: number, total: number, name: string) => void;
  /** Prints text that stays above the progress line. */
  readonly print: (text: string) => void;
}

/** Runs the scenarios against a runtime; with `--save`, writes a transcript of each. @throws ProtocolCliError `command-failed`, `unwritable-file` */
export async function driveRuntime(
  { command, scenarios, flags, onProgress, print }: RuntimeCheck,
  { clock, signal, redactor, about, stderr, log }: Run,
): Promise<readonly ScenarioRecording[]> {
  const { save, verbose, probeTimeout: windowMs } = flags;
  if (save !== undefined) await mkdir(save, { recursive: true });
  const open: OpenDriver = commandDriver(command, verbose ? print : undefined);
  const ends = new Map<string, (reason: string) => Promise<void>>();
  return runScenarios(scenarios, {
    ...{ open, clock, windowMs, signal, onProgress },
    async onStart({ name }, own) {
      own.subscribe(event => {
        redactor.learn(event);
        if (event.kind === 'warned' && event.calls === undefined)
          log.emit({ kind: 'warned', message: event.message });
      });
      const path = save === undefined ? undefined : join(save, `${name}.ndjson`);
      ends.set(name, await saveTranscript(own, path, redactor, { ...about, observer: 'tool' }, { stderr }));
    },
    onEnd: async ({ name }) => ends.get(name)?.(signal.aborted ? 'interrupted' : 'done'),
  });
}
