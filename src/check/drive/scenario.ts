import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../events/log.js';
import { createPooledClient } from '../../http/pooled-client.js';
import { type MockTool, startMockTool } from '../../mock/mock-tool.js';
import type { Ability } from '../../protocol/driver.js';
import type { RequirementId } from '../../protocol/requirements.js';
import { missingFileHint } from '../../system/child.js';
import { type Clock, finishedWithin } from '../../system/clock.js';
import type { Sink } from '../../system/streams.js';
import { ProtocolCliError } from '../../util/errors.js';
import { formatDuration } from '../../util/text.js';
import type { Driver, DriverSetting } from './driver.js';
import { type Fixtures, fixtureFile, PING } from './scenario-fixtures.js';
import { type ModelContact, ScenarioRun, START_MS } from './scenario-run.js';
import { ScenarioSession } from './scenario-session.js';

/** Tool servers with a given behaviour, and instructions for the runtime. */
export interface Scenario {
  readonly name: string;
  /** The main requirement first, which fails if the runtime crashes. */
  readonly checks: readonly [RequirementId, ...RequirementId[]];
  /** What the driver must support; else the scenario is skipped. It then begins with a call of `ping`. */
  readonly needs?: readonly Ability[];
  /** What the tools do, in words. */
  readonly title: string;
  /** The fixtures of each tool server; the first also has the operation `ping`. */
  readonly servers: readonly Fixtures[];
  readonly run: (session: ScenarioSession) => Promise<unknown>;
}

/** How a scenario is played. */
export interface ScenarioSetting {
  readonly open: (setting: DriverSetting) => Promise<Driver>;
  /** Variables for the driver besides those of the scenario. */
  readonly env: Readonly<Record<string, string>>;
  readonly onStderr?: Sink;
  /** A folder of the scenario. */
  readonly folder: string;
  readonly log: Log;
  readonly clock: Clock;
  /** How long to wait for each expected message, in ms. */
  readonly windowMs: number;
  /** How long to wait for the first sign of the driver before that, in ms; default: {@link START_MS}. */
  readonly startMs?: number | undefined;
  readonly contact: ModelContact;
  readonly signal: AbortSignal;
  /** Called if the first scenario has shown nothing for a while. */
  readonly onSilence?: (message: string) => void;
}

/** After this time without a sign of the driver, a message says what the check waits for, in ms. */
const SILENCE_MS = 3_000;

/** How long the tools may take to send what is pending, in ms. */
const DRAIN_MS = 200;

/**
 * Starts the tools and the driver, plays the scenario, and stops them.
 * @throws ProtocolCliError `command-failed` if it did nothing and had to
 */
export async function playScenario(
  scenario: Scenario,
  setting: ScenarioSetting,
  mustAct: boolean,
): Promise<void> {
  const { open, log, signal, onStderr, clock } = setting;
  const tools: MockTool[] = [];
  const warnings: string[] = [];
  let driver: Driver | undefined;
  let stop = () => {};
  let cancelNote = () => {};
  try {
    for (const fixtures of scenario.servers) tools.push(await startTool(fixtures, setting, tools.length));
    const env = await environment(scenario, tools, setting);
    const run = new ScenarioRun(setting);
    stop = () => run.stop();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) return;
    driver = await open({
      env,
      clock,
      ...observerFor(run),
      onWarning(message) {
        warnings.push(message);
        log.emit({ kind: 'warned', message });
      },
      ...(onStderr && { onStderr }),
    });
    if (mustAct) cancelNote = noteSilence(run, driver, setting);
    run.attach(driver);
    await giveInstructions(scenario, run, new ScenarioSession(run, tools), log);
    await run.closeThread();
    if (mustAct && !run.hasActed && !signal.aborted) throw await failedStart(driver, warnings);
  } finally {
    signal.removeEventListener('abort', stop);
    cancelNote();
    await driver?.stop();
    await Promise.all(tools.map(tool => tool.close({ drainMs: DRAIN_MS })));
  }
}

/** Runs the instructions of a scenario, unless the driver does not support them. */
async function giveInstructions(
  scenario: Scenario,
  run: ScenarioRun,
  session: ScenarioSession,
  log: Log,
): Promise<void> {
  const { name, checks, needs = [] } = scenario;
  if (needs.length > 0) await session.call(PING); // after it, the driver has sent its `can` and `cannot`
  const unsupported = run.abilities.missing(needs);
  const isRun = unsupported.length === 0;
  log.emit({
    kind: 'planned',
    by: 'scenario',
    plan: name,
    checks: isRun ? [...checks] : [],
    ...(!isRun && { unsupported: [...unsupported] }),
  });
  if (isRun) await scenario.run(session);
}

/** Passes on what a driver shows. */
function observerFor(run: ScenarioRun) {
  return {
    onLine: line => run.receive(line),
    onModelRequest: () => run.receiveModelRequest(),
    onUnserved: text => run.receiveFinding({ saw: 'unserved', text }),
    onServed: () => run.receiveFinding({ saw: 'served' }),
  } satisfies Partial<DriverSetting>;
}

/** Says after a while what the check waits for. Returns a function that cancels it. */
function noteSilence(
  run: ScenarioRun,
  { kind }: Driver,
  { clock, windowMs, startMs = START_MS, onSilence }: ScenarioSetting,
): () => void {
  return clock.after(SILENCE_MS, () => {
    const limits = `--ready-timeout (${formatDuration(startMs)}) and --probe-timeout (${formatDuration(windowMs)})`;
    const total = formatDuration(startMs + windowMs);
    if (!run.hasActed)
      onSilence?.(`waiting for the first sign of the ${kind}, for up to ${total}: ${limits}`);
  });
}

/** Copies the events of a mock tool into the scenario's log, with absolute URLs and with ids made unique per tool. */
async function startTool(
  fixtures: Fixtures,
  { log, clock }: Pick<ScenarioSetting, 'log' | 'clock'>,
  index: number,
): Promise<MockTool> {
  const tool = await startMockTool({
    fixtures: fixtureFile(fixtures, index === 0),
    basePath: `/${randomBytes(7).toString('hex')}`, // another program may remember the port, and cannot guess this
    retries: 1,
    clock,
    client: async () => createPooledClient({ clock }),
  });
  const named = (id: string) => (index === 0 ? id : `${index}.${id}`);
  tool.subscribe(event => {
    const { seq: _, at: __, ...fact } = event;
    if (fact.calls) fact.calls = fact.calls.map(named);
    if ('leg' in fact && fact.leg !== undefined) fact.leg = named(fact.leg);
    if (fact.kind === 'request' && fact.from === 'runtime') fact.url = tool.url + fact.url;
    log.emit(fact);
  });
  return tool;
}

async function environment({ name }: Scenario, tools: readonly MockTool[], { env, folder }: ScenarioSetting) {
  const urls = tools.map(({ url }) => url);
  const config = join(folder, 'rap.json');
  const entries = urls.map(server_url => ({ type: 'toolset_server', server_url }));
  await writeFile(config, JSON.stringify({ tool_sets: entries }, null, 2));
  const [first = ''] = urls;
  return { ...env, TOOL_URL: first, TOOL_URLS: JSON.stringify(urls), RAP_CONFIG: config, SCENARIO: name };
}

/** How long to wait for the last lines of a driver that ended, in ms. */
const LAST_MS = 200;

/** The error of a driver that did nothing. @param warnings about the lines that it wrote */
async function failedStart(
  { kind, ended, lastLines, hint }: Driver,
  warnings: readonly string[],
): Promise<ProtocolCliError> {
  const hasEnded = await finishedWithin(ended, LAST_MS);
  const nothing = kind === 'agent' ? 'sent no request to the model' : 'called no tool and reported nothing';
  const how = hasEnded ? await ended : nothing;
  const lines = lastLines();
  const help = (hasEnded ? missingFileHint(lines) : null) ?? hint;
  return new ProtocolCliError('command-failed', `the ${kind} ${how}`, {
    faults: [...warnings, ...lines],
    ...(help !== undefined && { hint: help }),
  });
}
