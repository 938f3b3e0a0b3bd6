import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Content } from '../../events/content.js';
import type { Event, RequestEvent } from '../../events/events.js';
import type { Log } from '../../events/log.js';
import { createPooledClient } from '../../http/pooled-client.js';
import { type MockTool, startMockTool } from '../../mock/mock-tool.js';
import {
  type Ability,
  DriverAbilities,
  type DriverLine,
  type Finding,
  type Instruction,
  type Observation,
} from '../../protocol/driver.js';
import type { RequirementId } from '../../protocol/requirements.js';
import { isErrorLine, missingFileHint } from '../../system/child.js';
import { type Clock, finishedWithin } from '../../system/clock.js';
import type { Sink } from '../../system/streams.js';
import { ProtocolCliError } from '../../util/errors.js';
import { LIMITS } from '../../util/limits.js';
import { formatDuration, truncate } from '../../util/text.js';
import { DriverCalls } from '../runtime-view.js';
import type { Driver, DriverSetting } from './driver.js';

/** The content of a fixture file without its version. */
export interface Fixtures extends Readonly<Record<string, unknown>> {
  readonly fixtures?: readonly object[];
  readonly toolset?: Readonly<Record<string, unknown>> & { readonly tools: readonly object[] };
}

/** Tool servers with a given behaviour, and instructions for the runtime. */
export interface Scenario {
  readonly name: string;
  /** What the tools do, in words. */
  readonly title: string;
  /** What it tests, the main requirement first: it fails if the runtime crashes. */
  readonly checks: readonly [RequirementId, ...RequirementId[]];
  /** What the driver must support; else the scenario is skipped. It then begins with a call of `ping`. */
  readonly needs?: readonly Ability[];
  /** The fixtures of each tool server; the first also has the operation `ping`. */
  readonly servers: readonly Fixtures[];
  readonly run: (session: ScenarioSession) => Promise<unknown>;
}

/** An operation of the first tool server. Its result shows that the runtime has handled every earlier message. */
const PING = 'ping';

const PING_TOOL = { name: PING, description: 'Answers pong', inputSchema: { type: 'object' } };

/** The fixture file of a tool server; of the first one with the operation `ping`. */
function fixtureFile({ fixtures = [], toolset, ...rest }: Fixtures, isFirst = true) {
  const file = { version: 1, ...rest, ...(toolset !== undefined && { toolset }), fixtures };
  if (!isFirst) return file;
  const ping = { match: { operation: PING }, reply: { payload: 'pong' } };
  return {
    ...file,
    ...(toolset && { toolset: { ...toolset, tools: [...toolset.tools, PING_TOOL] } }),
    fixtures: [...fixtures, ping],
  };
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
  readonly signal: AbortSignal;
  /** Called if the first scenario has shown nothing for a while. */
  readonly onSilence?: (message: string) => void;
}

/** How long to wait for something that must not come, in ms. */
const QUIET_MS = 400;

/** Minimum time for the first sign of a driver, in ms. */
const START_MS = 15_000;

/** After this time without a sign of the driver, a message says what the check waits for, in ms. */
const SILENCE_MS = 3_000;

/** How long the tools may take to send what is pending, in ms. */
const DRAIN_MS = 200;

/**
 * Starts the tools and the driver, plays the scenario, and stops them. Resolves to whether the runtime did anything.
 * @throws ProtocolCliError `command-failed` if it did nothing and had to
 */
export async function playScenario(
  scenario: Scenario,
  setting: ScenarioSetting,
  mustAct: boolean,
): Promise<void> {
  const { open, log, signal, onStderr, clock, windowMs } = setting;
  const tools: MockTool[] = [];
  const warnings: string[] = [];
  let driver: Driver | undefined;
  let stop = () => {};
  let cancelNote = () => {};
  try {
    for (const fixtures of scenario.servers) tools.push(await startTool(fixtures, setting, tools.length));
    const env = await environment(scenario, tools, setting);
    const session = new ScenarioSession(tools, setting);
    stop = () => session.stop();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) return;
    driver = await open({
      env,
      clock,
      onLine: line => session.receive(line),
      onWarning(message) {
        warnings.push(message);
        log.emit({ kind: 'warned', message });
      },
      onModelRequest: () => session.receiveModelRequest(),
      onUnserved: text => session.receiveFinding({ saw: 'unserved', text }),
      onServed: () => session.receiveFinding({ saw: 'served' }),
      ...(onStderr && { onStderr }),
    });
    const { kind } = driver;
    if (mustAct)
      cancelNote = clock.after(SILENCE_MS, () => {
        const limits = `${formatDuration(START_MS)} and --probe-timeout (${formatDuration(windowMs)})`;
        const total = formatDuration(START_MS + windowMs);
        if (!session.hasActed)
          setting.onSilence?.(`waiting for the first sign of the ${kind}, for up to ${total}: ${limits}`);
      });
    await session.play(scenario, driver);
    if (mustAct && !session.hasActed && !signal.aborted) throw await failedStart(driver, warnings);
  } finally {
    signal.removeEventListener('abort', stop);
    cancelNote();
    await driver?.stop();
    await Promise.all(tools.map(tool => tool.close({ drainMs: DRAIN_MS })));
  }
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

/** One run of a scenario: gives instructions to the driver, and waits for what follows from them. */
export class ScenarioSession {
  /** Requests without an end, by id. */
  readonly #open = new Map<string, RequestEvent>();
  /** How many requests were answered or broken off. Counted, so that each event costs the same. */
  readonly #ended = new Map<RequestEvent['purpose'], number>();
  #requests = 0;
  readonly #events: Event[] = [];
  readonly #observations: Observation[] = [];
  readonly #abilities = new DriverAbilities();
  readonly #waiting = new Set<() => void>();
  #driver: Driver | undefined;
  #calls = 0;
  /** Whether the runtime did anything. */
  #isActive = false;
  #hasActed = false;
  #isOver = false;
  /** Whether the driver was asked to end, or the model has ended its turn. */
  #mayEnd = false;

  constructor(
    private readonly tools: readonly MockTool[],
    private readonly setting: Pick<ScenarioSetting, 'log' | 'clock' | 'windowMs'>,
  ) {
    setting.log.subscribe(event => {
      this.#events.push(event);
      if (event.kind === 'request') this.#addRequest(event);
      if (event.kind === 'response' || event.kind === 'broken') this.#endRequest(event.leg);
      this.#checkWaits();
    });
  }

  /** Whether it did more than to ask for toolsets, as an agent does that finds no model. */
  get hasActed(): boolean {
    return this.#hasActed;
  }

  /** Plays a scenario to its end, unless the driver does not support it. */
  async play({ name, checks, needs = [], run }: Scenario, driver: Driver): Promise<void> {
    this.#driver = driver;
    void driver.ended.then(how => {
      if (!this.#mayEnd) this.#failScenario(endingOf(how, driver));
      this.stop();
    });
    if (needs.length > 0) await this.call(PING); // after it, the driver has sent its `can` and `cannot`
    const unsupported = this.#abilities.missing(needs);
    const isRun = unsupported.length === 0;
    this.setting.log.emit({
      kind: 'planned',
      by: 'scenario',
      plan: name,
      checks: isRun ? [...checks] : [],
      ...(!isRun && { unsupported: [...unsupported] }),
    });
    if (isRun) await run(this);
    await this.#end();
  }

  #addRequest(request: RequestEvent): void {
    this.#open.set(request.leg, request);
    if (request.from !== 'runtime') return;
    if (this.#driver?.kind !== 'agent') {
      this.#isActive = true; // an agent may take long between discovery and its first step
      this.#hasActed ||= request.purpose !== 'discovery';
    }
    this.#countRequest();
  }

  /** Counts a request of the runtime, to a tool or to the model. */
  #countRequest(): void {
    if (++this.#requests <= LIMITS.scenarioRequests.value || this.#isOver) return;
    const how = `sent more than ${LIMITS.scenarioRequests.value} requests; it was stopped`;
    this.#failScenario(how);
    this.setting.log.emit({ kind: 'warned', message: `the runtime ${how}` });
  }

  #endRequest(id: string): void {
    const purpose = this.#open.get(id)?.purpose;
    if (purpose !== undefined && this.#open.delete(id))
      this.#ended.set(purpose, (this.#ended.get(purpose) ?? 0) + 1);
  }

  /** Whether the runtime has answered all messages of the tools. */
  #areAnswered(): boolean {
    return ![...this.#open.values()].some(({ from }) => from === 'tool');
  }

  /** Ends the scenario; it fails. */
  #failScenario(how: string): void {
    if (this.#isOver) return;
    this.stop();
    this.setting.log.emit({ kind: 'driver', from: 'runtime', ended: how });
  }

  /** Takes a line of the driver. */
  receive(line: DriverLine): void {
    if ('saw' in line) {
      this.#observations.push(line);
      this.#isActive = true;
      this.#hasActed = true;
    } else this.#abilities.add(line);
    this.setting.log.emit({ kind: 'driver', from: 'runtime', body: Content.ofJson(line) });
  }

  /** Takes the sign of life of an agent. */
  receiveModelRequest(): void {
    this.#isActive = true;
    this.#hasActed = true;
    this.#countRequest();
    this.#checkWaits();
  }

  /** Takes what the scripted model saw. */
  receiveFinding(finding: Finding<'unserved' | 'served'>): void {
    this.setting.log.emit({ kind: 'driver', from: 'check', body: Content.ofJson(finding) });
  }

  /** Gives an instruction. A driver that does not support it ends the scenario. */
  instruct(instruction: Instruction): void {
    if (!this.#abilities.supports(instruction.do)) {
      this.stop();
      return;
    }
    this.#give(instruction);
  }

  #give(instruction: Instruction): void {
    this.setting.log.emit({ kind: 'driver', from: 'check', body: Content.ofJson(instruction) });
    this.#driver?.send(instruction);
  }

  /** Tells the driver to cancel, waits for this number of cancel notices, then waits until all messages are handled. */
  async cancel(notices = 1): Promise<void> {
    this.instruct({ do: 'cancel' });
    await this.waitForRequests('cancel', notices);
    await this.settle();
  }

  /** Lets the model cancel the subscription of the latest call of an operation, and waits as {@link cancel} does. */
  async cancelSubscription(operation: string): Promise<void> {
    const { id } = this.latestCall(operation) ?? {};
    if (id === undefined) return;
    this.instruct({ do: 'cancel-subscription', id });
    await this.waitForRequests('cancel');
    await this.settle();
  }

  /** The ids of the latest call of an operation. */
  latestCall(operation: string) {
    return this.tools[0]?.calls().findLast(({ invocation }) => invocation?.operation === operation)
      ?.addressee;
  }

  /** Makes the first tool server send the next message that the latest call of an operation waits for. Returns whether it waits for one. */
  fire(operation: string): boolean {
    const { id, group_id } = this.latestCall(operation) ?? {};
    return (this.tools[0]?.fire(id, group_id) ?? 0) > 0;
  }

  /** As {@link fire}, as soon as the call waits, and after the runtime has answered all earlier messages; it may take `ms` for that. */
  async fireInTurn(operation: string, ms: number): Promise<void> {
    await this.#within(ms, () => this.#areAnswered());
    let isFired = false;
    await this.until(() => (isFired ||= this.fire(operation)));
  }

  /** Asks for a call. Returns the id of the instruction. */
  invoke(operation: string, args: Readonly<Record<string, unknown>> = {}): string {
    const id = `call_${++this.#calls}`;
    this.instruct({ do: 'invoke', operation, arguments: { ...args }, id });
    return id;
  }

  /** Calls an operation and waits until the model gets something for it. */
  async call(operation: string, args?: Readonly<Record<string, unknown>>): Promise<string> {
    const id = this.invoke(operation, args);
    await this.waitForResult(id);
    return id;
  }

  /** Resolves to whether the model got something: for this call, or without an id. */
  waitForResult(id: string): Promise<boolean> {
    if (!this.#abilities.supports('model') && !this.#abilities.supports('failure'))
      return this.waitQuietly().then(() => false);
    let [judged, isAnswered] = [0, false];
    return this.until(() => {
      const { length } = this.#observations;
      if (length > judged && length <= LIMITS.scenarioRequests.value)
        isAnswered ||= new DriverCalls(this.#events).isAnswered(id);
      judged = length;
      return isAnswered;
    });
  }

  /** Resolves to whether the driver reported this; at once to false if it cannot. */
  async waitForObservation<Kind extends Observation['saw']>(
    kind: Kind,
    fits: (observation: Observation<Kind>) => boolean = () => true,
  ): Promise<boolean> {
    const isWanted = (each: Observation): each is Observation<Kind> => each.saw === kind;
    const isSeen = () => this.#observations.filter(isWanted).some(fits);
    if (kind === 'model' && this.#driver?.endTurn) await this.#offerTurns(isSeen);
    return this.until(() => !this.#abilities.supports(kind) || isSeen()).then(isSeen);
  }

  /** Gives an agent the chances to deliver an event to the model: with the result of a call, and after the end of a turn. */
  async #offerTurns(isSeen: () => boolean): Promise<void> {
    await this.#within(this.setting.windowMs, () => isSeen() || this.#areAnswered());
    if (await this.#within(QUIET_MS, isSeen)) return;
    await this.call(PING);
    if (await this.#within(QUIET_MS, isSeen)) return;
    this.#mayEnd = true;
    this.#driver?.endTurn?.();
  }

  /** Resolves to true when at least `count` requests with this purpose have ended (response or broken connection); to false on timeout. */
  waitForRequests(purpose: RequestEvent['purpose'], count = 1): Promise<boolean> {
    return this.until(() => (this.#ended.get(purpose) ?? 0) >= count);
  }

  /** Resolves to whether it came true before the time was over and before the driver ended. */
  async until(isTrue: () => boolean): Promise<boolean> {
    const { windowMs, log } = this.setting;
    await this.#within(START_MS, () => this.#isActive || isTrue());
    const isMet = await this.#within(windowMs, isTrue);
    if (!isMet && !this.#isOver) log.emit({ kind: 'expired', what: 'observation', afterMs: windowMs });
    return isMet;
  }

  /** Replaces the fixtures of the first tool server. */
  async replaceFixtures(fixtures: Fixtures): Promise<void> {
    await this.tools[0]?.replaceFixtures(fixtureFile(fixtures));
  }

  /**
   * Makes a harmless call and waits briefly, so that the runtime has handled all earlier messages and unwanted effects would be visible.
   */
  async settle(): Promise<void> {
    await this.call(PING);
    await this.waitQuietly();
  }

  /** Waits for something that must not come. */
  async waitQuietly(ms = QUIET_MS): Promise<void> {
    await this.#within(ms, () => false);
  }

  /** Closes the thread and waits until the driver has ended. */
  async #end(): Promise<void> {
    this.#mayEnd = true;
    await this.#within(QUIET_MS, () => this.#areAnswered());
    if (this.#isOver) return;
    const isAgent = this.#driver?.kind === 'agent'; // it cannot be asked to close its thread; its conversation ends
    if (!isAgent && !this.#abilities.supports('end')) return;
    this.#give({ do: 'end' });
    const { windowMs, log } = this.setting;
    if (await this.#within(windowMs, () => this.#isOver)) return;
    log.emit({ kind: 'expired', what: 'observation', afterMs: windowMs });
    const after = isAgent ? 'the last message of the model' : '{"do":"end"}';
    const limit = `within ${formatDuration(windowMs)} after ${after}`;
    const message = `the ${this.#driver?.kind} did not end ${limit}; it was stopped`;
    log.emit({ kind: 'warned', message });
  }

  /** Ends all waits. */
  stop(): void {
    this.#isOver = true;
    this.#checkWaits();
  }

  #within(ms: number, isTrue: () => boolean): Promise<boolean> {
    if (isTrue()) return Promise.resolve(true);
    if (this.#isOver) return Promise.resolve(false);
    return new Promise(resolve => {
      const settle = (isMet: boolean) => {
        cancel();
        this.#waiting.delete(look);
        resolve(isMet);
      };
      const look = () => {
        if (isTrue()) settle(true);
        else if (this.#isOver) settle(false);
      };
      const cancel = this.setting.clock.after(ms, () => settle(false));
      this.#waiting.add(look);
    });
  }

  #checkWaits(): void {
    for (const look of [...this.#waiting]) look();
  }
}

const MAX_LAST_LENGTH = 200;

/** How a driver ended, with the last error that it wrote, else its last line. */
function endingOf(how: string, driver: Driver): string {
  const lines = driver.lastLines();
  const line = lines.findLast(isErrorLine) ?? lines.at(-1);
  return line === undefined ? how : `${how}. Last output: ${truncate(line.trim(), MAX_LAST_LENGTH)}`;
}
