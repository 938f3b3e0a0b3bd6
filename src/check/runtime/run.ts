import { rmSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Content } from '../../events/content.js';
import type { Event } from '../../events/events.js';
import { renumbered } from '../../events/history.js';
import { createLog, type Log } from '../../events/log.js';
import { type MockTool, startMockTool } from '../../mock/mock-tool.js';
import type { Observation } from '../../protocol/driver.js';
import type { Clock } from '../../system/clock.js';
import { beforeForcedEnd, cameWithin } from '../../system/process.js';
import { concurrently } from '../../util/collections.js';
import { ProtocolCliError } from '../../util/errors.js';
import { excerpt, firstFew } from '../../util/text.js';
import type { Recording } from '../evidence.js';
import type { Driver, OpenDriver } from './driver.js';
import { findingsIn, LogFile } from './findings.js';
import { type Fixtures, fixtureFile, PING, type Scenario, ScenarioSession, Unsupported } from './scenario.js';

export interface ScenarioOptions {
  readonly open: OpenDriver;
  readonly clock: Clock;
  /** How long to wait for each expected message, in ms. */
  readonly windowMs: number;
  readonly signal: AbortSignal;
  /** How many scenarios run at the same time; default: 4. */
  readonly atOnce?: number;
  /** The runtime's own log. Its lines name no scenario, so those of scenarios that run at the same time are read too. */
  readonly logFile?: LogFile;
  /** Called with the log of each scenario before it begins. */
  readonly onStart?: (scenario: Scenario, log: Log) => Promise<void> | void;
  /** Called before and after each scenario, with its name. */
  readonly onProgress?: (done: number, total: number, scenario: string) => void;
  /** Called with a warning that is not about one scenario. */
  readonly onWarning?: (message: string) => void;
  /** Called with the stderr of the driver. */
  readonly onStderr?: (scenario: string, text: string) => void;
  /** Called after each scenario, before its recording ends. */
  readonly onEnd?: (scenario: Scenario, log: Log) => Promise<void> | void;
}

/** The recording of one scenario. */
export interface ScenarioRecording extends Recording {
  readonly scenario: string;
}

/** A scenario spends most of its time waiting for the runtime. */
const AT_ONCE = 4;

/**
 * Runs each scenario against a runtime that is started anew; the first one alone, since it shows whether the driver works. The rules
 * judge the recordings afterwards.
 * @throws ProtocolCliError `command-failed` if the driver does nothing in the first scenario, and errors of the options
 */
export async function runScenarios(
  scenarios: readonly Scenario[],
  options: ScenarioOptions,
): Promise<readonly ScenarioRecording[]> {
  const { clock, atOnce = AT_ONCE, onProgress } = options;
  const failed = new AbortController();
  const signal = AbortSignal.any([options.signal, failed.signal]);
  const start = clock.now();
  const found = new Map<Scenario, ScenarioRecording>();
  const folder = await mkdtemp(join(tmpdir(), 'protocol-cli-'));
  const forget = beforeForcedEnd(() => rmSync(folder, { recursive: true, force: true }));
  let failure: unknown;
  const reportProgress = ({ name }: Scenario) => onProgress?.(found.size, scenarios.length, name);
  const run = async (scenario: Scenario) => {
    if (signal.aborted) return;
    reportProgress(scenario);
    const from = clock.now() - start;
    try {
      const recording = await runScenario(
        scenario,
        { ...options, signal },
        scenario === scenarios[0],
        folder,
      );
      if (signal.aborted) return; // the interruption looks like a fault of the runtime
      const events = recording.events.map(event => ({ ...event, at: event.at + from }));
      found.set(scenario, { ...recording, events });
      reportProgress(scenario);
    } catch (error) {
      failure ??= error;
      failed.abort();
    }
  };
  await concurrently(scenarios.slice(0, 1), 1, run);
  await concurrently(scenarios.slice(1), atOnce, run);
  await stopLeftovers(folder, options);
  await rm(folder, { recursive: true, force: true });
  forget();
  if (failed.signal.aborted) throw failure;
  const recordings = scenarios.flatMap(scenario => found.get(scenario) ?? []);
  const events = renumbered(recordings.map(each => each.events));
  return recordings.map((each, index) => ({ ...each, events: events[index] ?? [] }));
}

/** Stops the processes of drivers that left their process group: they have a path of ours in their environment. */
async function stopLeftovers(folder: string, { onWarning }: ScenarioOptions): Promise<void> {
  const programs = await killProcessesWith('RAP_CONFIG', folder);
  if (programs.length === 0) return;
  const names = excerpt(firstFew([...new Set(programs)], MAX_PROGRAMS));
  onWarning?.(`the runtime left processes running; they were stopped: ${names}`);
}

const MAX_PROGRAMS = 5;

/** Passes over the processes, and the pause between two, in ms: one may start another meanwhile, and takes a moment to end. */
const [PASSES, PAUSE_MS] = [50, 10];

/**
 * Kills the processes that have this variable in their environment, such as those of a command that left its process group. Works
 * where `/proc` lists the processes. Returns the names of their programs.
 * @param start what the value of the variable begins with
 */
export async function killProcessesWith(name: string, start: string): Promise<readonly string[]> {
  const killed = new Map<number, string>();
  for (let pass = 0; pass < PASSES; pass++) {
    const found = await processesWith(`${name}=${start}`);
    if (found.length === 0) break;
    for (const pid of found) {
      if (!killed.has(pid)) killed.set(pid, await programOf(pid));
      kill(pid);
    }
    await sleep(PAUSE_MS);
  }
  return [...killed.values()];
}

async function programOf(pid: number): Promise<string> {
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const [program = ''] = line.split('\0'); // arguments may contain secrets
  return basename(program) || `process ${pid}`;
}

async function processesWith(variable: string): Promise<readonly number[]> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.map(Number).filter(pid => pid > 1 && pid !== process.pid);
  const has = async (pid: number) => {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => ''); // empty for an ended process
    return environment.split('\0').some(each => each.startsWith(variable));
  };
  const found = await Promise.all(pids.map(async pid => ((await has(pid)) ? [pid] : [])));
  return found.flat();
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}

async function runScenario(
  scenario: Scenario,
  options: ScenarioOptions,
  isFirst: boolean,
  parent: string,
): Promise<ScenarioRecording> {
  const { name } = scenario;
  const log = createLog(() => options.clock.now());
  const events: Event[] = [];
  log.subscribe(event => void events.push(event));
  await options.onStart?.(scenario, log);
  const logFile = options.logFile && new LogFile(options.logFile.path); // each scenario reads from its own start
  await logFile?.skip();
  try {
    const folder = await mkdtemp(join(parent, 'scenario-'));
    const observations = await playIn(folder, scenario, log, options, isFirst);
    await noteFindings(events, observations, log, logFile);
  } finally {
    await options.onEnd?.(scenario, log);
  }
  return { scenario: name, observer: 'tool', events };
}

/** Starts the tools and the driver, plays the scenario, and stops them. Returns what the driver reported. */
async function playIn(
  folder: string,
  scenario: Scenario,
  log: Log,
  { clock, windowMs, signal, open, logFile, onStderr }: ScenarioOptions,
  isFirst: boolean,
): Promise<readonly Observation[]> {
  const tools: MockTool[] = [];
  let driver: Driver | undefined;
  let stop = () => {};
  try {
    for (const fixtures of scenario.servers) tools.push(await startTool(fixtures, log, tools.length));
    const env = {
      ...(await environment(scenario, tools, folder)),
      ...(logFile && { LOG: resolve(logFile.path) }),
    };
    const session = new ScenarioSession({ tools, log, clock, windowMs });
    stop = () => session.stop();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) return [];
    driver = await open({
      scenario: scenario.name,
      env,
      onLine: line => session.take(line),
      onWarning: message => void log.emit({ kind: 'warned', message }),
      ...(onStderr && { onStderr: (text: string) => onStderr(scenario.name, text) }),
    });
    session.attach(driver);
    await play(scenario, session, log);
    await session.end();
    if (isFirst && !session.isActive && !signal.aborted) throw await failedStart(driver);
    return session.observations;
  } finally {
    signal.removeEventListener('abort', stop);
    await driver?.stop();
    await Promise.all(tools.map(tool => tool.close({ drainMs: DRAIN_MS })));
  }
}

async function noteFindings(
  events: readonly Event[],
  observations: readonly Observation[],
  log: Log,
  file: LogFile | undefined,
): Promise<void> {
  const part = file ? await file.read() : null;
  const warn = (what: string) => log.emit({ kind: 'warned', message: `--log: ${what}` });
  if (file && !part) warn(`cannot read ${file.path}; RT-AUDIT was not checked, and RT-OAUTH without the log`);
  if (file && part?.isWhole === false)
    warn(`only a part of ${file.path} was read: it is too long, or the runtime began it anew`);
  for (const finding of findingsIn(events, observations, part))
    log.emit({ kind: 'driver', from: 'check', body: Content.ofJson(finding) });
}

/** How long the tools may take to send what is pending, in ms. */
const DRAIN_MS = 200;

async function play(scenario: Scenario, session: ScenarioSession, log: Log): Promise<void> {
  const { name, checks, needs = [] } = scenario;
  const plan = (ids: readonly string[]) =>
    log.emit({ kind: 'planned', by: 'scenario', plan: name, checks: [...ids] });
  if (needs.length > 0) await session.call(PING); // after it, the driver has sent its `cannot`
  const missing = needs.filter(ability => session.cannot.has(ability));
  plan(missing.length > 0 ? [] : checks);
  if (missing.length > 0) return;
  try {
    await scenario.run(session);
  } catch (error) {
    if (!(error instanceof Unsupported)) throw error;
  }
}

/** Copies the events of a tool into the log of the scenario: with the URL of its server, and ids of its own. */
async function startTool(fixtures: Fixtures, log: Log, index: number): Promise<MockTool> {
  const tool = await startMockTool({ fixtures: fixtureFile(fixtures, index === 0), retries: 1 });
  const named = (id: string) => (index === 0 ? id : `${index}.${id}`);
  tool.subscribe(event => {
    const { seq: _, at: __, ...fact } = event;
    if (fact.calls) fact.calls = fact.calls.map(named);
    if ('leg' in fact && fact.leg !== undefined) fact.leg = named(fact.leg);
    if (fact.kind === 'request' && fact.from === 'runtime') fact.url = new URL(fact.url, tool.url).href;
    log.emit(fact);
  });
  return tool;
}

async function environment(
  { name }: Scenario,
  tools: readonly MockTool[],
  folder: string,
): Promise<Readonly<Record<string, string>>> {
  const urls = tools.map(({ url }) => url);
  const config = join(folder, 'rap.json');
  const entries = urls.map(server_url => ({ type: 'toolset_server', server_url }));
  await writeFile(config, JSON.stringify({ tool_sets: entries }, null, 2));
  return {
    TOOL_URL: urls[0] ?? '',
    TOOL_URLS: JSON.stringify(urls),
    RAP_CONFIG: config,
    SCENARIO: name,
  };
}

/** How long to wait for the last lines of a driver that ended, in ms. */
const LAST_MS = 200;

/** The error of a driver that did nothing. */
async function failedStart({ kind, ended, lastLines, hint }: Driver): Promise<ProtocolCliError> {
  const hasEnded = await cameWithin(ended, LAST_MS);
  const how = hasEnded ? await ended : 'called no tool and wrote nothing to stdout';
  return new ProtocolCliError('command-failed', `the ${kind} ${how}`, {
    faults: lastLines(),
    ...(hint !== undefined && { hint }),
  });
}
