import { Content } from '../../events/content.js';
import type { Event, RequestEvent } from '../../events/events.js';
import type { Log } from '../../events/log.js';
import {
  type Ability,
  DriverAbilities,
  type DriverLine,
  type Finding,
  type Instruction,
  type Observation,
} from '../../protocol/driver.js';
import { isErrorLine } from '../../system/child.js';
import type { Clock } from '../../system/clock.js';
import { LIMITS } from '../../util/limits.js';
import { formatDuration, truncate } from '../../util/text.js';
import { Waits } from '../waits.js';
import type { Driver } from './driver.js';
import { RequestCounts } from './request-counts.js';

/** How long to wait for something that must not come, in ms. */
export const QUIET_MS = 400;

/** Minimum time for the first sign of a driver, in ms. */
export const START_MS = 15_000;

interface RunSetting {
  readonly log: Log;
  readonly clock: Clock;
  /** How long to wait for each expected message, in ms. */
  readonly windowMs: number;
}

/** One run of a scenario: what the runtime did so far, and when it is over. Its instructions are in {@link ScenarioSession}. */
export class ScenarioRun {
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
  #hasDiscovered = false;
  #hasActed = false;
  /** Whether the driver was asked to end, or the model has ended its turn. */
  #mayEnd = false;

  constructor(private readonly setting: RunSetting) {
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
    return this.#hasActed;
  }

  /** Takes the driver of the scenario. If it ends before it may, the scenario fails. */
  begin(driver: Driver): void {
    this.#driver = driver;
    void driver.ended.then(how => {
      if (!this.#mayEnd) this.#failScenario(endingOf(how, driver));
      this.stop();
    });
  }

  /** Closes the thread and waits until the driver has ended. */
  async end(): Promise<void> {
    this.#mayEnd = true;
    await this.#waits.until(() => this.#requests.areToolsAnswered, QUIET_MS);
    if (this.#isOver) return;
    const isAgent = this.#driver?.kind === 'agent'; // it cannot be asked to close its thread; its conversation ends
    if (!isAgent && !this.#abilities.supports('end')) return;
    this.give({ do: 'end' });
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
      this.#hasActed = true;
    } else this.#abilities.add(line);
    this.setting.log.emit({ kind: 'driver', from: 'runtime', body: Content.ofJson(line) });
  }

  /** Takes the sign of life of an agent. */
  receiveModelRequest(): void {
    this.#hasActed = true;
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
      if (request.purpose === 'discovery') this.#hasDiscovered = true;
      else this.#hasActed = true;
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

  /** All events, oldest first. */
  get events(): readonly Event[] {
    return this.#events;
  }

  /** What the driver reported, oldest first. */
  get observations(): readonly Observation[] {
    return this.#observations;
  }

  supports(ability: Ability): boolean {
    return this.#abilities.supports(ability);
  }

  /** Which of these abilities the driver does not have. */
  missing(needs: readonly Ability[]): readonly Ability[] {
    return this.#abilities.missing(needs);
  }

  /** Whether the runtime has answered all messages of the tools. */
  get areToolsAnswered(): boolean {
    return this.#requests.areToolsAnswered;
  }

  /** How many requests with this purpose have ended (response or broken connection). */
  countEnded(purpose: RequestEvent['purpose']): number {
    return this.#requests.ended(purpose);
  }

  /** Sends an instruction to the driver. */
  give(instruction: Instruction): void {
    this.setting.log.emit({ kind: 'driver', from: 'check', body: Content.ofJson(instruction) });
    this.#driver?.send(instruction);
  }

  /** Whether the runtime is an agent that may need the end of a turn. */
  get hasTurns(): boolean {
    return this.#driver?.endTurn !== undefined;
  }

  /** Ends the turn of the model; the agent may end then. */
  endTurn(): void {
    this.#mayEnd = true;
    this.#driver?.endTurn?.();
  }

  /** Resolves to whether it came true within `ms`, before the run was over. */
  wait(isTrue: () => boolean, ms = this.setting.windowMs): Promise<boolean> {
    return this.#waits.until(isTrue, ms);
  }

  /** Resolves to whether it came true before the time was over and before the driver ended. */
  async expect(isTrue: () => boolean): Promise<boolean> {
    const { windowMs, log } = this.setting;
    await this.#waits.until(() => this.#hasDiscovered || this.#hasActed || isTrue(), START_MS);
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
