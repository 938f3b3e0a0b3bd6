import { Content } from '../../events/content.js';
import type { Event, RequestEvent } from '../../events/events.js';
import type { Log } from '../../events/log.js';
import {
  DriverAbilities,
  type DriverLine,
  type Finding,
  type Instruction,
  type Observation,
} from '../../protocol/driver.js';
import { isSuccess } from '../../protocol/http-status.js';
import { isErrorLine } from '../../system/child.js';
import type { Clock } from '../../system/clock.js';
import { LIMITS } from '../../util/limits.js';
import { formatDuration, truncate } from '../../util/text.js';
import { Waits } from '../waits.js';
import type { Driver } from './driver.js';
import { RequestCounts } from './request-counts.js';

/** How long to wait for something that must not come, in ms. */
export const QUIET_MS = 400;

/** How long a driver may take to start, in ms. */
export const START_MS = 15_000;

/** How long to wait for an observation after the runtime has answered a callback, once an ordinary result did not reach the model, in ms. */
const HOPELESS_MS = { refused: QUIET_MS, accepted: 1_000 };

/**
 * Whether results reach the model at all. If that of an ordinary call did not, later waits are short until one does: a runtime that
 * refuses every callback would make each scenario wait its whole time for what cannot come.
 */
export class ModelContact {
  isLost = false;
}

interface RunSetting {
  readonly log: Log;
  readonly clock: Clock;
  /** How long to wait for each expected message, in ms. */
  readonly windowMs: number;
  /** How long to wait for the first sign of the driver before that, in ms; default: {@link START_MS}. */
  readonly startMs?: number | undefined;
  readonly contact: ModelContact;
}

/** One run of a scenario: what the runtime did so far, and when it is over. Its instructions are in {@link ScenarioSession}. */
export class ScenarioRun {
  readonly abilities = new DriverAbilities();
  readonly requests = new RequestCounts();
  readonly #events: Event[] = [];
  readonly #observations: Observation[] = [];
  readonly #waits: Waits;
  /** Aborted when the scenario is over. */
  readonly #over = new AbortController();
  #driver: Driver | undefined;
  /** `ending`: the driver was asked to end, or the model has ended its turn, so that the driver may end. */
  #phase: 'playing' | 'ending' | 'over' = 'playing';
  /** The runtime's answer to the latest callback since the last instruction that begins something. */
  #answer: 'refused' | 'accepted' | null = null;
  /** The most that the runtime did. */
  #did: 'nothing' | 'discovery' | 'action' = 'nothing';

  constructor(private readonly setting: RunSetting) {
    this.#waits = new Waits(setting.clock, this.#over.signal);
    setting.log.subscribe(event => {
      this.#events.push(event);
      if (event.kind === 'request') this.#addRequest(event);
      if (event.kind === 'response' && this.requests.isCallback(event.leg))
        this.#answer = isSuccess(event.status) ? 'accepted' : 'refused';
      if (event.kind === 'response' || event.kind === 'broken') this.requests.end(event.leg);
      this.#waits.look();
    });
  }

  /** All events, oldest first. */
  get events(): readonly Event[] {
    return this.#events;
  }

  /** What the driver reported, oldest first. */
  get observations(): readonly Observation[] {
    return this.#observations;
  }

  /** Whether it did more than to ask for toolsets, as an agent does that finds no model. */
  get hasActed(): boolean {
    return this.#did === 'action';
  }

  /** Whether the runtime is an agent that may need the end of a turn. */
  get hasTurns(): boolean {
    return this.#driver?.endTurn !== undefined;
  }

  /** Takes the driver of the scenario. If it ends before it may, the scenario fails. */
  attach(driver: Driver): void {
    this.#driver = driver;
    void driver.ended.then(how => {
      if (this.#phase === 'playing') this.#fail(endingOf(how, driver));
      this.stop();
    });
  }

  /** Takes a line of the driver. */
  receive(line: DriverLine): void {
    if ('saw' in line) {
      this.#observations.push(line);
      this.#did = 'action';
      if (line.saw === 'model') this.setting.contact.isLost = false;
    } else this.abilities.add(line);
    this.setting.log.emit({ kind: 'driver', from: 'runtime', body: Content.ofJson(line) });
  }

  /** Takes the sign of life of an agent. */
  receiveModelRequest(): void {
    this.#did = 'action';
    this.requests.addToModel();
    this.#limitRequests();
    this.#waits.look();
  }

  /** Takes what the scripted model saw. */
  receiveFinding(finding: Finding<'unserved' | 'served'>): void {
    this.setting.log.emit({ kind: 'driver', from: 'check', body: Content.ofJson(finding) });
  }

  /** Sends an instruction to the driver. */
  give(instruction: Instruction): void {
    this.setting.log.emit({ kind: 'driver', from: 'check', body: Content.ofJson(instruction) });
    const isAnswer = instruction.do === 'answer' || instruction.do === 'dismiss'; // of a question that came before
    if (!isAnswer) this.#answer = null;
    this.#driver?.send(instruction);
  }

  /** Ends the turn of the model; the agent may end then. */
  endTurn(): void {
    this.#mayEnd();
    this.#driver?.endTurn?.();
  }

  /** Asks the driver to close its thread and to end, and waits until it has ended. */
  async closeThread(): Promise<void> {
    this.#mayEnd();
    await this.#waits.until(() => this.requests.areToolsAnswered, QUIET_MS);
    if (this.#isOver) return;
    const isAgent = this.#driver?.kind === 'agent'; // it cannot be asked to close its thread; its conversation ends
    if (!isAgent && !this.abilities.supports('end')) return;
    this.give({ do: 'end' });
    const { windowMs, log } = this.setting;
    if (await this.#waits.until(() => this.#isOver, windowMs)) return;
    log.emit({ kind: 'expired', what: 'observation', afterMs: windowMs });
    const after = isAgent ? 'the last message of the model' : '{"do":"end"}';
    const limit = `within ${formatDuration(windowMs)} after ${after}`;
    const message = `the ${this.#driver?.kind} did not end ${limit}; it was stopped`;
    log.emit({ kind: 'warned', message });
  }

  /** Ends the scenario and all waits. */
  stop(): void {
    this.#phase = 'over';
    this.#over.abort();
  }

  /** Resolves to whether it came true within `ms`, before the run was over. */
  wait(isTrue: () => boolean, ms = this.setting.windowMs): Promise<boolean> {
    return this.#waits.until(isTrue, ms);
  }

  /** Resolves to whether it came true before the time was over and before the driver ended. */
  async expect(isTrue: () => boolean): Promise<boolean> {
    const { windowMs, startMs = START_MS, log, contact } = this.setting;
    await this.#waits.until(() => this.#did !== 'nothing' || isTrue(), startMs);
    const isHopeless = () => contact.isLost && this.#answer !== null;
    let afterMs = windowMs;
    let isMet = await this.#waits.until(() => isTrue() || isHopeless(), windowMs);
    if (isMet && !isTrue()) {
      afterMs = Math.min(windowMs, HOPELESS_MS[this.#answer ?? 'accepted']);
      isMet = await this.#waits.until(isTrue, afterMs);
    }
    if (!isMet && !this.#isOver) log.emit({ kind: 'expired', what: 'observation', afterMs });
    return isMet;
  }

  get #isOver(): boolean {
    return this.#phase === 'over';
  }

  #mayEnd(): void {
    if (!this.#isOver) this.#phase = 'ending';
  }

  #addRequest(request: RequestEvent): void {
    this.requests.begin(request);
    if (request.from !== 'runtime') return;
    // an agent may take long between discovery and its first step
    if (this.#driver?.kind !== 'agent') {
      if (request.purpose !== 'discovery') this.#did = 'action';
      else if (this.#did === 'nothing') this.#did = 'discovery';
    }
    this.#limitRequests();
  }

  #limitRequests(): void {
    if (!this.requests.areTooMany || this.#isOver) return;
    const how = `sent more than ${LIMITS.scenarioRequests.value} requests; it was stopped`;
    this.#fail(how);
    this.setting.log.emit({ kind: 'warned', message: `the runtime ${how}` });
  }

  #fail(how: string): void {
    this.stop();
    this.setting.log.emit({ kind: 'driver', from: 'runtime', ended: how });
  }
}

const MAX_LAST_LENGTH = 200;

/** How a driver ended, with the last error that it wrote, else its last line. */
function endingOf(how: string, driver: Driver): string {
  const lines = driver.lastLines();
  const line = lines.findLast(isErrorLine) ?? lines.at(-1);
  return line === undefined ? how : `${how}. Last output: ${truncate(line.trim(), MAX_LAST_LENGTH)}`;
}
