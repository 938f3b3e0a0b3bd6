import { setMaxListeners } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Content } from '../../events/content.js';
import type { Event } from '../../events/events.js';
import { createLog, type Log } from '../../events/log.js';
import { renumbered } from '../../events/renumber.js';
import { reasonOf } from '../../system/file-system-errors.js';
import { beforeForcedEnd } from '../../system/process.js';
import type { Sink } from '../../system/streams.js';
import { forEachConcurrently } from '../../util/collections.js';
import { ProtocolCliError } from '../../util/errors.js';
import { excerpt, joinFirst } from '../../util/text.js';
import { DriverEvidence } from '../driver-evidence.js';
import type { Recording } from '../evidence.js';
import { killProcessesWith } from './kill-processes.js';
import { findingsSince } from './log-findings.js';
import { playScenario, type Scenario, type ScenarioSetting } from './scenario.js';
import { ModelContact } from './scenario-run.js';
import { callScenarios } from './scenarios/calls.js';
import { displayScenarios } from './scenarios/display.js';
import { invalidMessageScenarios } from './scenarios/invalid-messages.js';
import { questionScenarios } from './scenarios/questions.js';
import { resultScenarios } from './scenarios/results.js';
import { subscriptionScenarios } from './scenarios/subscriptions.js';

/** All scenarios; the first runs alone, so it is an ordinary call. */
export const SCENARIOS: readonly Scenario[] = [
  ...resultScenarios,
  ...invalidMessageScenarios,
  ...displayScenarios,
  ...callScenarios,
  ...questionScenarios,
  ...subscriptionScenarios,
];

/** A call with a plain result. */
const [ORDINARY] = SCENARIOS;

/** Sees a scenario from outside. */
interface ScenarioObserver {
  /** Called with the stderr of the driver. */
  readonly onStderr?: Sink;
  /** Called after the scenario, before its recording ends. */
  readonly end: () => Promise<void> | void;
}

export interface ScenarioOptions
  extends Pick<ScenarioSetting, 'open' | 'clock' | 'windowMs' | 'startMs' | 'signal' | 'onSilence'> {
  /** How many scenarios run at the same time; default: 4. */
  readonly atOnce?: number;
  /** Whether the scenarios ran before: then a runtime that does nothing is a fault, not an error. */
  readonly isRepetition?: boolean;
  /** The runtime's own log. Its lines name no scenario, so those of scenarios that run at the same time are read too. */
  readonly logPath?: string | undefined;
  /** Called with the log of each scenario before it begins. */
  readonly onStart?: (scenario: Scenario, log: Log) => Promise<ScenarioObserver> | ScenarioObserver;
  /** Called before and after each scenario, with its name. */
  readonly onProgress?: (done: number, total: number, scenario: string) => void;
  /** Called if an ordinary result did not reach the model, with the status that its callback was answered with. */
  readonly onContactLost?: (status: number | null) => void;
  /** Called with a warning that is not about one scenario. */
  readonly onWarning?: (message: string) => void;
}

type PlayOptions = ScenarioOptions & Pick<ScenarioSetting, 'contact'>;

/** A scenario spends most of its time waiting for the runtime. */
const AT_ONCE = 4;

/**
 * Runs each scenario against a runtime that is started anew; the first one alone, since it shows whether the driver works and whether
 * the model gets an ordinary result. The rules judge the recordings afterwards.
 * @throws ProtocolCliError `command-failed` if the driver does nothing in the first scenario, and errors of the options
 */
export async function runScenarios(
  scenarios: readonly Scenario[],
  options: ScenarioOptions,
): Promise<readonly Recording[]> {
  return withTemporaryFolder(async folder => {
    try {
      return await playScenarios(scenarios, options, folder);
    } finally {
      await stopLeftovers(folder, options);
    }
  });
}

async function playScenarios(
  scenarios: readonly Scenario[],
  options: ScenarioOptions,
  folder: string,
): Promise<readonly Recording[]> {
  const { clock, atOnce = AT_ONCE, isRepetition = false, onProgress, onContactLost } = options;
  const contact = new ModelContact();
  const failed = new AbortController(); // the first failure is its reason
  const signal = AbortSignal.any([options.signal, failed.signal]);
  setMaxListeners(0, signal); // each scenario listens
  const start = clock.now();
  const played = new Map<Scenario, readonly Event[]>();
  const play = async (scenario: Scenario) => {
    onProgress?.(played.size, scenarios.length, scenario.name);
    const from = clock.now() - start;
    const mustAct = scenario === scenarios[0] && !isRepetition;
    const events = await playRecorded(scenario, { ...options, signal, contact }, mustAct, folder);
    if (signal.aborted) return; // the interruption looks like a fault of the runtime
    played.set(
      scenario,
      events.map(event => ({ ...event, at: event.at + from })),
    );
    onProgress?.(played.size, scenarios.length, scenario.name);
  };
  const playUnlessStopped = async (scenario: Scenario) => {
    if (!signal.aborted) await play(scenario).catch(error => failed.abort(error));
  };
  const [first] = scenarios;
  const alone = isRepetition && first !== ORDINARY ? 0 : 1;
  await forEachConcurrently(scenarios.slice(0, alone), 1, playUnlessStopped);
  const ordinary = first && first === ORDINARY ? played.get(first) : undefined;
  if (ordinary && lacksModel(ordinary)) {
    contact.isLost = true;
    onContactLost?.(callbackStatusIn(ordinary));
  }
  await forEachConcurrently(scenarios.slice(alone), atOnce, playUnlessStopped);
  failed.signal.throwIfAborted();
  const recordings = scenarios.map(scenario => played.get(scenario)).filter(events => events !== undefined);
  return renumbered(recordings).map(events => ({ observer: 'tool', events }));
}

/** Whether the model was expected to get something, and got nothing. */
function lacksModel(events: readonly Event[]): boolean {
  const driver = DriverEvidence.of(events, []);
  if (!driver?.supports('model')) return false;
  return events.some(({ kind }) => kind === 'expired') && driver.observations('model').length === 0;
}

/** What the runtime answered to the last callback; null without an answer. */
function callbackStatusIn(events: readonly Event[]): number | null {
  const callbacks = events.flatMap(event =>
    event.kind === 'request' && event.purpose === 'callback' ? [event.leg] : [],
  );
  const answer = events.findLast(event => event.kind === 'response' && callbacks.includes(event.leg));
  return answer?.kind === 'response' ? answer.status : null;
}

/** Removes the folder after the work, also if this process is forced to end. @throws ProtocolCliError `unwritable-file` */
async function withTemporaryFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await temporaryFolder();
  const forget = beforeForcedEnd(() => rmSync(folder, { recursive: true, force: true }));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
    forget();
  }
}

/** @throws ProtocolCliError `unwritable-file` */
async function temporaryFolder(): Promise<string> {
  const parent = resolve(tmpdir()); // `TMPDIR` may be relative
  try {
    return await mkdtemp(join(parent, 'protocol-cli-'));
  } catch (cause) {
    const message = `cannot create a temporary folder in ${parent}: ${reasonOf(cause)}`;
    const hint = 'Set TMPDIR to an existing folder that you may write to.';
    throw new ProtocolCliError('unwritable-file', message, { hint, cause });
  }
}

/** Stops the processes of drivers that left their process group: they have a path of ours in their environment. */
async function stopLeftovers(folder: string, { onWarning }: ScenarioOptions): Promise<void> {
  const programs = await killProcessesWith('RAP_CONFIG', folder);
  if (programs === null)
    onWarning?.(
      'processes that the runtime left running were not looked for: this system does not list them',
    );
  if (programs === null || programs.length === 0) return;
  const names = excerpt(joinFirst([...new Set(programs)], MAX_PROGRAMS));
  onWarning?.(`the runtime left processes running; they were stopped: ${names}`);
}

const MAX_PROGRAMS = 5;

/** Plays a scenario. Returns its events, with what the runtime's own log shows. */
async function playRecorded(
  scenario: Scenario,
  { logPath, onStart, ...options }: PlayOptions,
  mustAct: boolean,
  parent: string,
): Promise<readonly Event[]> {
  const log = createLog(options.clock.now, options.clock.runnable);
  const events: Event[] = [];
  log.subscribe(event => void events.push(event));
  const { end, ...observer } = (await onStart?.(scenario, log)) ?? {};
  try {
    const findingsIn = await findingsSince(logPath); // each scenario reads from its own start
    const folder = await mkdtemp(join(parent, 'scenario-'));
    const env: ScenarioSetting['env'] = logPath === undefined ? {} : { LOG: resolve(logPath) };
    await playScenario(scenario, { ...options, ...observer, env, folder, log }, mustAct);
    const { findings, warning } = await findingsIn(events);
    if (warning !== undefined) log.emit({ kind: 'warned', message: `--log: ${warning}` });
    for (const finding of findings)
      log.emit({ kind: 'driver', from: 'check', body: Content.ofJson(finding) });
  } finally {
    await end?.();
  }
  return events;
}
