import { Content } from '../../events/content.js';
import type { Event, EventOf, RequestEvent } from '../../events/events.js';
import type { Log } from '../../events/log.js';
import type { MockTool } from '../../mock/mock-tool.js';
import type { Ability, Inability, Instruction, Observation } from '../../protocol/driver.js';
import type { RequirementId } from '../../protocol/requirements.js';
import type { Clock } from '../../system/clock.js';
import { cut, formatDuration } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import { DriverCalls } from '../runtime-view.js';
import type { Driver } from './driver.js';

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
export const PING = 'ping';

const PING_TOOL = { name: PING, description: 'Answers pong', inputSchema: { type: 'object' } };

/** The fixture file of a tool server; of the first one with the operation `ping`. */
export function fixtureFile({ fixtures = [], toolset, ...rest }: Fixtures, isFirst = true) {
  const file = { version: 1, ...rest, ...(toolset !== undefined && { toolset }), fixtures };
  if (!isFirst) return file;
  const ping = { match: { operation: PING }, reply: { payload: 'pong' } };
  return {
    ...file,
    ...(toolset && { toolset: { ...toolset, tools: [...toolset.tools, PING_TOOL] } }),
    fixtures: [...fixtures, ping],
  };
}

/** Thrown when a scenario needs what the driver does not support. */
export class Unsupported extends Error {
  constructor(readonly ability: Ability) {
    super(`the driver does not support ${ability}`);
  }
}

type Seen<Kind extends Observation['saw']> = Extract<Observation, { saw: Kind }>;

interface SessionParts {
  readonly tools: readonly MockTool[];
  readonly log: Log;
  readonly clock: Clock;
  /** How long to wait for each expected message, in ms. */
  readonly windowMs: number;
}

/** How long to wait for something that must not come, in ms. */
const QUIET_MS = 400;

/** Minimum time for the first sign of a driver, in ms. */
const START_MS = 15_000;

/** Maximum number of requests of a runtime in one scenario: judging more would take minutes. */
const MAX_REQUESTS = 2_000;

/** A flood of observations must not make each of them more expensive. */
const MAX_OBSERVATIONS = 1_000;

/** The requests in a log, counted so that each event costs the same, however many there are. */
class RequestCounts {
  readonly #open = new Map<string, RequestEvent>();
  readonly #ended = new Map<RequestEvent['purpose'], number>();
  #openOfTools = 0;
  #ofRuntime = 0;

  add(event: Event): void {
    if (event.kind === 'request') this.#begin(event);
    else if (event.kind === 'response' || event.kind === 'broken') this.#end(event.leg);
  }

  /** Whether the runtime has not yet answered a message of a tool. */
  get isAnswering(): boolean {
    return this.#openOfTools > 0;
  }

  /** The number of requests of the runtime. */
  get ofRuntime(): number {
    return this.#ofRuntime;
  }

  /** The number of requests that were answered or broken off. */
  ended(purpose: RequestEvent['purpose']): number {
    return this.#ended.get(purpose) ?? 0;
  }

  #begin(request: RequestEvent): void {
    this.#open.set(request.leg, request);
    if (request.from === 'tool') this.#openOfTools++;
    if (request.from === 'runtime') this.#ofRuntime++;
  }

  #end(leg: string): void {
    const request = this.#open.get(leg);
    if (!request || !this.#open.delete(leg)) return;
    if (request.from === 'tool') this.#openOfTools--;
    this.#ended.set(request.purpose, this.ended(request.purpose) + 1);
  }
}

/** One run of a scenario: gives instructions to the driver, and waits for what follows from them. */
export class ScenarioSession {
  readonly tools: readonly MockTool[];
  readonly #requests = new RequestCounts();
  readonly #events: Event[] = [];
  readonly #observations: Observation[] = [];
  readonly #cannot = new Set<string>();
  readonly #waiting = new Set<() => void>();
  #driver: Driver | undefined;
  #calls = 0;
  #isActive = false;
  #isOver = false;
  #isEnding = false;

  constructor(private readonly parts: SessionParts) {
    this.tools = parts.tools;
    parts.log.subscribe(event => {
      this.#requests.add(event);
      this.#events.push(event);
      this.#isActive ||= isActive(event);
      if (this.#requests.ofRuntime > MAX_REQUESTS) this.#stopFlood();
      this.#look();
    });
  }

  /** The first tool server. */
  get tool(): MockTool {
    const [tool] = this.tools;
    if (!tool) throw new Error('a scenario has a tool server');
    return tool;
  }

  /** Whether it ended, or the driver did. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether the runtime did anything. */
  get isActive(): boolean {
    return this.#isActive;
  }

  get observations(): readonly Observation[] {
    return this.#observations;
  }

  get cannot(): ReadonlySet<string> {
    return this.#cannot;
  }

  attach(driver: Driver): void {
    this.#driver = driver;
    void driver.ended.then(how => {
      if (!this.#isEnding) this.#breakOff(endingOf(how, driver));
      this.stop();
    });
  }

  #stopFlood(): void {
    if (this.#isOver) return;
    const how = `sent more than ${MAX_REQUESTS} requests; it was stopped`;
    this.#breakOff(how);
    this.parts.log.emit({ kind: 'warned', message: `the runtime ${how}` });
  }

  /** Ends the scenario; it fails. */
  #breakOff(how: string): void {
    if (this.#isOver) return;
    this.stop();
    this.parts.log.emit({ kind: 'driver', from: 'runtime', ended: how });
  }

  /** Takes a line of the driver. */
  take(line: Observation | Inability): void {
    if ('cannot' in line) for (const ability of line.cannot) this.#cannot.add(ability);
    else this.#observations.push(line);
    this.parts.log.emit({ kind: 'driver', from: 'runtime', body: Content.ofJson(line) });
  }

  /** @throws Unsupported */
  requires(...abilities: readonly Ability[]): void {
    const missing = abilities.find(ability => this.#cannot.has(ability));
    if (missing) throw new Unsupported(missing);
  }

  /** @throws Unsupported */
  ask(instruction: Instruction): void {
    this.requires(instruction.do);
    this.parts.log.emit({ kind: 'driver', from: 'check', body: Content.ofJson(instruction) });
    this.#driver?.send(instruction);
  }

  /** Asks to cancel, and waits for so many notices; afterwards, nothing more may come. */
  async cancel(notices = 1): Promise<void> {
    this.ask({ do: 'cancel' });
    await this.arrives('cancel', notices);
    await this.settle();
  }

  /** The ids of the latest call of an operation. */
  latestCall(operation: string) {
    return this.tool.calls().findLast(({ invocation }) => invocation?.operation === operation)?.addressee;
  }

  /** Makes the first tool server send the next message that the latest call of an operation waits for. */
  fire(operation: string): void {
    const { id, group_id } = this.latestCall(operation) ?? {};
    this.tool.fire(id, group_id);
  }

  /** Asks for a call. Returns the id of the instruction. */
  invoke(operation: string, args: Readonly<Record<string, unknown>> = {}): string {
    const id = `call_${++this.#calls}`;
    this.ask({ do: 'invoke', operation, arguments: { ...args }, id });
    return id;
  }

  /** Calls an operation and waits until the model gets something for it. */
  async call(operation: string, args?: Readonly<Record<string, unknown>>): Promise<string> {
    const id = this.invoke(operation, args);
    await this.result(id);
    return id;
  }

  /** Resolves to whether the model got something: for this call, or without an id. */
  result(id: string): Promise<boolean> {
    if (this.#cannot.has('model') && this.#cannot.has('failure')) return this.quiet().then(() => false);
    let [judged, isAnswered] = [0, false];
    return this.until(() => {
      const { length } = this.#observations;
      if (length > judged && length <= MAX_OBSERVATIONS)
        isAnswered ||= new DriverCalls(this.#events).isAnswered(id);
      judged = length;
      return isAnswered;
    });
  }

  /** Resolves to whether the driver reported this; at once to false if it cannot. */
  saw<Kind extends Observation['saw']>(
    kind: Kind,
    fits: (observation: Seen<Kind>) => boolean = () => true,
  ): Promise<boolean> {
    const isWanted = (each: Observation): each is Seen<Kind> => each.saw === kind;
    const isSeen = () => this.#observations.filter(isWanted).some(fits);
    return this.until(() => this.#cannot.has(kind) || isSeen()).then(isSeen);
  }

  /** Resolves to whether so many requests of a kind arrived, and were answered or broken off. */
  arrives(purpose: EventOf<'request'>['purpose'], count = 1): Promise<boolean> {
    return this.until(() => this.#requests.ended(purpose) >= count);
  }

  /** Resolves to whether it came true before the time was over and before the driver ended. */
  async until(isTrue: () => boolean): Promise<boolean> {
    const { windowMs, log } = this.parts;
    await this.#within(START_MS, () => this.isActive || isTrue());
    const isMet = await this.#within(windowMs, isTrue);
    if (!isMet && !this.#isOver) log.emit({ kind: 'expired', what: 'observation', afterMs: windowMs });
    return isMet;
  }

  /** Replaces the fixtures of the first tool server. */
  async replaceFixtures(fixtures: Fixtures): Promise<void> {
    await this.tool.replaceFixtures(fixtureFile(fixtures));
  }

  /** Waits until everything that the tools sent so far was handled: what should not come has not come then. */
  async settle(): Promise<void> {
    await this.call(PING);
    await this.quiet();
  }

  /** Waits for something that must not come. */
  async quiet(ms = QUIET_MS): Promise<void> {
    await this.#within(ms, () => false);
  }

  /** Closes the thread and waits until the driver has ended. */
  async end(): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    await this.#within(QUIET_MS, () => !this.#requests.isAnswering);
    if (this.#isOver || this.#cannot.has('end')) return;
    this.ask({ do: 'end' });
    const { windowMs, log } = this.parts;
    if (await this.#within(windowMs, () => this.#isOver)) return;
    log.emit({ kind: 'expired', what: 'observation', afterMs: windowMs });
    const message = `the driver did not end within ${formatDuration(windowMs)} after {"do":"end"}; it was stopped`;
    log.emit({ kind: 'warned', message });
  }

  /** Ends all waits. */
  stop(): void {
    this.#isOver = true;
    this.#look();
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
      const cancel = this.parts.clock.after(ms, () => settle(false));
      this.#waiting.add(look);
    });
  }

  #look(): void {
    for (const look of [...this.#waiting]) look();
  }
}

/** Whether it shows that the runtime works: a request to a tool, or an observation. */
function isActive(event: Event): boolean {
  if (event.kind === 'request') return event.from === 'runtime';
  if (event.kind !== 'driver' || event.from !== 'runtime' || !event.body?.json.ok) return false;
  return isRecord(event.body.json.value) && 'saw' in event.body.json.value;
}

/** How many lines to search for the error: a stack may follow it. */
const MAX_LAST_LINES = 30;

const MAX_LAST_LENGTH = 200;

/** The start of the error line of a crashed program, in Node.js, Python, Java, Go and Rust. */
const ERROR = /^\s*(?:Uncaught )?(?:[\w.]*(?:Error|Exception)\b|panic\b|thread .* panicked\b)/;

/** How a driver ended, with the last error that it wrote, else its last line. */
function endingOf(how: string, driver: Driver): string {
  const lines = driver.lastLines(MAX_LAST_LINES);
  const line = lines.findLast(each => ERROR.test(each)) ?? lines.at(-1);
  return line === undefined ? how : `${how}. Last output: ${cut(line.trim(), MAX_LAST_LENGTH)}`;
}
