import type { RequestEvent } from '../../events/events.js';
import type { MockTool } from '../../mock/mock-tool.js';
import type { Instruction, Observation } from '../../protocol/driver.js';
import { LIMITS } from '../../util/limits.js';
import { DriverCalls } from '../driver-evidence.js';
import { type Fixtures, fixtureFile, PING } from './scenario-fixtures.js';
import { QUIET_MS, type ScenarioRun } from './scenario-run.js';

/** What a scenario does: gives instructions to the driver, and waits for what follows from them. */
export class ScenarioSession {
  #calls = 0;

  constructor(
    private readonly run: ScenarioRun,
    private readonly tools: readonly MockTool[],
  ) {}

  /** Gives an instruction. A driver that does not support it ends the scenario. */
  instruct(instruction: Instruction): void {
    if (this.run.abilities.supports(instruction.do)) this.run.give(instruction);
    else this.run.stop();
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
    await this.run.wait(() => this.run.requests.areToolsAnswered, ms);
    let isFired = false;
    await this.run.expect(() => (isFired ||= this.fire(operation)));
  }

  /** Replaces the fixtures of the first tool server. */
  async replaceFixtures(fixtures: Fixtures): Promise<void> {
    await this.tools[0]?.replaceFixtures(fixtureFile(fixtures));
  }

  /** Resolves to whether the model got something: for this call, or without an id. */
  waitForResult(id: string): Promise<boolean> {
    if (!this.run.abilities.supports('model') && !this.run.abilities.supports('failure'))
      return this.waitQuietly().then(() => false);
    let judged = 0;
    let isAnswered = false;
    return this.run.expect(() => {
      const { length } = this.run.observations;
      if (length > judged && length <= LIMITS.scenarioRequests.value)
        isAnswered ||= new DriverCalls(this.run.events).isAnswered(id);
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
    const isSeen = () => this.run.observations.filter(isWanted).some(fits);
    if (kind === 'model' && this.run.hasTurns) await this.#offerTurns(isSeen);
    return this.run.expect(() => !this.run.abilities.supports(kind) || isSeen()).then(isSeen);
  }

  /** Gives an agent the chances to deliver an event to the model: with the result of a call, and after the end of a turn. */
  async #offerTurns(isSeen: () => boolean): Promise<void> {
    await this.run.wait(() => isSeen() || this.run.requests.areToolsAnswered);
    if (await this.run.wait(isSeen, QUIET_MS)) return;
    await this.call(PING);
    if (await this.run.wait(isSeen, QUIET_MS)) return;
    this.run.endTurn();
  }

  /** Resolves to true when at least `count` requests with this purpose have ended (response or broken connection); to false on timeout. */
  waitForRequests(purpose: RequestEvent['purpose'], count = 1): Promise<boolean> {
    return this.run.expect(() => this.run.requests.ended(purpose) >= count);
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
    await this.run.wait(() => false, ms);
  }
}
