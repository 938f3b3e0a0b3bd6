import { Content } from '../../events/content.js';
import type { Event, RequestEvent } from '../../events/events.js';
import type { Log } from '../../events/log.js';
import type { MockTool } from '../../mock/mock-tool.js';
import {
  type Ability,
  DriverAbilities,
  type DriverLine,
  type Finding,
  type Instruction,
  type Observation,
} from '../../protocol/driver.js';
import type { RequirementId } from '../../protocol/requirements.js';
import { isErrorLine } from '../../system/child.js';
import type { Clock } from '../../system/clock.js';
import { LIMITS } from '../../util/limits.js';
import { formatDuration, truncate } from '../../util/text.js';
import { DriverCalls } from '../runtime-view.js';
import { Waits } from '../waits.js';
import type { Driver } from './driver.js';
import { RequestCounts } from './request-counts.js';
import { type Fixtures, fixtureFile, PING } from './scenario-fixtures.js';

/** What a scenario tests. */
export interface ScenarioPlan {
  readonly name: string;
  /** The main requirement first, which fails if the runtime crashes. */
  readonly checks: readonly [RequirementId, ...RequirementId[]];
  /** What the driver must support; else the scenario is skipped. It then begins with a call of `ping`. */
  readonly needs?: readonly Ability[];
}

/** How long to wait for something that must not come, in ms. */
const QUIET_MS = 400;

/** Minimum time for the first sign of a driver, in ms. */
export const START_MS = 15_000;

interface SessionSetting {
  readonly log: Log;
  readonly clock: Clock;
  /** How long to wait for each expected message, in ms. */
  readonly windowMs: number;
}

/** One run of a scenario: gives instructions to the driver, and waits for what follows from them. */
export class ScenarioSession {
  readonly #requests = new RequestCounts();
  /** How many requests the runtime sent, to tools and to the model. */
  #sent = 0;
  readonly #events: Event[] = [];
  readonly #observations: Observation[] = [];
  readonly #abilities = new DriverAbilities();
  /** Aborted when the scenario is over. */
  readonly #over = new AbortController();
  readonly #waits: Waits;
  #driver: Driver | undefined;
  #calls = 0;
  /** What the runtime did: nothing, only discovery, or more. */
  #activity: 'none' | 'discovered' | 'acted' = 'none';
  /** Whether the driver was asked to end, or the model has ended its turn. */
  #mayEnd = false;

  constructor(
    private readonly tools: readonly MockTool[],
    private readonly setting: SessionSetting,
  ) {
    this.#waits = new Waits(setting.clock, this.#over.signal);
    setting.log.subscribe(event => {
      this.#events.push(event);
      if (event.kind === 'request') this.#addRequest(event);
      if (event.kind === 'response' || event.kind === 'broken') this.#requests.end(event.leg);
      this.#waits.look();
    });
  }

  get #isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** Whether it did more than to ask for toolsets, as an agent does that finds no model. */
  get hasActed(): boolean {
    return this.#activity === 'acted';
  }

  /** Plays a scenario to its end, unless the driver does not support it. */
  async play(
    { name, checks, needs = [] }: ScenarioPlan,
    driver: Driver,
    run: () => Promise<unknown>,
  ): Promise<void> {
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
    if (isRun) await run();
    await this.#end();
  }

  /** Closes the thread and waits until the driver has ended. */
  async #end(): Promise<void> {
    this.#mayEnd = true;
    await this.#waits.until(() => this.#requests.areToolsAnswered, QUIET_MS);
    if (this.#isOver) return;
    const isAgent = this.#driver?.kind === 'agent'; // it cannot be asked to close its thread; its conversation ends
    if (!isAgent && !this.#abilities.supports('end')) return;
    this.#give({ do: 'end' });
    const { windowMs, log } = this.setting;
    if (await this.#waits.until(() => this.#isOver, windowMs)) return;
    log.emit({ kind: 'expired', what: 'observation', afterMs: windowMs });
    const after = isAgent ? 'the last message of the model' : '{"do":"end"}';
    const limit = `within ${formatDuration(windowMs)} after ${after}`;
    const message = `the ${this.#driver?.kind} did not end ${limit}; it was stopped`;
    log.emit({ kind: 'warned', message });
  }

  /** Ends the scenario; it fails. */
  #failScenario(how: string): void {
    if (this.#isOver) return;
    this.stop();
    this.setting.log.emit({ kind: 'driver', from: 'runtime', ended: how });
  }

  /** Ends all waits. */
  stop(): void {
    this.#over.abort();
  }

  /** Takes a line of the driver. */
  receive(line: DriverLine): void {
    if ('saw' in line) {
      this.#observations.push(line);
      this.#activity = 'acted';
    } else this.#abilities.add(line);
    this.setting.log.emit({ kind: 'driver', from: 'runtime', body: Content.ofJson(line) });
  }

  /** Takes the sign of life of an agent. */
  receiveModelRequest(): void {
    this.#activity = 'acted';
    this.#countRequest();
    this.#waits.look();
  }

  /** Takes what the scripted model saw. */
  receiveFinding(finding: Finding<'unserved' | 'served'>): void {
    this.setting.log.emit({ kind: 'driver', from: 'check', body: Content.ofJson(finding) });
  }

  #addRequest(request: RequestEvent): void {
    this.#requests.begin(request);
    if (request.from !== 'runtime') return;
    // an agent may take long between discovery and its first step
    if (this.#driver?.kind !== 'agent') {
      if (request.purpose !== 'discovery') this.#activity = 'acted';
      else if (this.#activity === 'none') this.#activity = 'discovered';
    }
    this.#countRequest();
  }

  /** Counts a request of the runtime, to a tool or to the model. */
  #countRequest(): void {
    if (++this.#sent <= LIMITS.scenarioRequests.value || this.#isOver) return;
    const how = `sent more than ${LIMITS.scenarioRequests.value} requests; it was stopped`;
    this.#failScenario(how);
    this.setting.log.emit({ kind: 'warned', message: `the runtime ${how}` });
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
    await this.#waits.until(() => this.#requests.areToolsAnswered, ms);
    let isFired = false;
    await this.until(() => (isFired ||= this.fire(operation)));
  }

  /** Replaces the fixtures of the first tool server. */
  async replaceFixtures(fixtures: Fixtures): Promise<void> {
    await this.tools[0]?.replaceFixtures(fixtureFile(fixtures));
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
    await this.#waits.until(() => isSeen() || this.#requests.areToolsAnswered, this.setting.windowMs);
    if (await this.#waits.until(isSeen, QUIET_MS)) return;
    await this.call(PING);
    if (await this.#waits.until(isSeen, QUIET_MS)) return;
    this.#mayEnd = true;
    this.#driver?.endTurn?.();
  }

  /** Resolves to true when at least `count` requests with this purpose have ended (response or broken connection); to false on timeout. */
  waitForRequests(purpose: RequestEvent['purpose'], count = 1): Promise<boolean> {
    return this.until(() => this.#requests.ended(purpose) >= count);
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
    await this.#waits.until(() => false, ms);
  }

  /** Resolves to whether it came true before the time was over and before the driver ended. */
  async until(isTrue: () => boolean): Promise<boolean> {
    const { windowMs, log } = this.setting;
    await this.#waits.until(() => this.#activity !== 'none' || isTrue(), START_MS);
    const isMet = await this.#waits.until(isTrue, windowMs);
    if (!isMet && !this.#isOver) log.emit({ kind: 'expired', what: 'observation', afterMs: windowMs });
    return isMet;
  }
}

const MAX_LAST_LENGTH = 200;

/** How a driver ended, with the last error that it wrote, else its last line. */
function endingOf(how: string, driver: Driver): string {
  const lines = driver.lastLines();
  const line = lines.findLast(isErrorLine) ?? lines.at(-1);
  return line === undefined ? how : `${how}. Last output: ${truncate(line.trim(), MAX_LAST_LENGTH)}`;
}
