import { canBeGivenUp } from '../../exchange/exchange.js';
import type { SchemaFault } from '../../json-schema/fault.js';
import { type ArgumentsCheck, judgeArguments } from '../../runtime/check-call.js';
import { giveUp } from '../../runtime/give-up.js';
import { isTaken, type NoticeAnswer } from '../../runtime/notices.js';
import { rulingOn } from '../../runtime/policy.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { Redactor } from '../../text/redact.js';
import type { Draft, RunOptions, Said, Sent } from '../../ui/workbench/controls.js';
import { Answers } from './answers.js';
import type { CalledAs } from './as-command.js';
import { callOf } from './call-of.js';
import { dial, type Scene } from './dialling.js';
import { bidFarewell } from './farewell.js';
import type { Manners } from './manners.js';
import { done, failed, reasonOf } from './said.js';
import type { Offer, Shelf } from './shelf.js';
import { Switchboard } from './switchboard.js';

const UNJUDGED: ArgumentsCheck = { faults: [], warnings: [] };
const NOT_AGREED = 'it is marked destructive, and nobody agreed to call it';

/** What calls are made with. */
export interface Phone extends Scene {
  readonly redactor: Redactor;
  readonly shelf: Shelf;
  readonly manners: Manners;
}

/** Makes the calls of a session, and looks after them until its end. */
export class Caller {
  readonly #switchboard: Switchboard;
  readonly #answers = new Answers();
  /** By calls, as long as the book has them: a late result may still open a subscription, which can be given up. */
  readonly #offers = new Map<string, Offer>();
  /** Ids of the servers that calls were meant for, be they denied. */
  readonly #servers = new Map<string, string>();
  /** Calls that went out without validation. */
  readonly #unvalidated = new Set<string>();
  /** What is being prepared. */
  readonly #runs = new Set<Promise<Sent>>();

  constructor(private readonly phone: Phone) {
    this.#switchboard = new Switchboard(phone, phone.manners);
  }

  /** The policy first, then the arguments (RT-ARGS); what is sent goes on by itself. Once all is over nothing is. Never rejects. */
  run(draft: Draft, options: RunOptions): Promise<Sent> {
    const running = this.#run(draft, options).finally(() => this.#runs.delete(running));
    this.#runs.add(running);
    return running;
  }

  async #run(draft: Draft, { validates, isAgreed = false }: RunOptions): Promise<Sent> {
    const offer = this.phone.shelf.offer(draft.server, draft.operation);
    if (typeof offer === 'string') return refused(offer);
    try {
      const ruling = rulingOn(this.phone.manners.consent.policy, offer.tool);
      if (!ruling.allowed) return await this.#deny(draft, ruling.reason);
      if (!isAgreed && this.needsConsent(draft.server, draft.operation)) return refused(NOT_AGREED);
      const { faults, warnings } = validates ? await judgeArguments(offer.tool, draft.arguments) : UNJUDGED;
      if (faults.length > 0) return { kind: 'invalid', faults };
      const key = await this.#send(draft, offer, validates);
      for (const { message } of warnings) this.phone.log.emit({ kind: 'warned', message, calls: [key] });
      return { kind: 'sent', key };
    } catch (error) {
      return refused(reasonOf(error));
    }
  }

  /** What the policy denies is on record. */
  async #deny(draft: Draft, reason: string): Promise<Sent> {
    const runtime = await this.#switchboard.open();
    runtime.deny(this.#address(draft, runtime), { by: 'policy', reason });
    return refused(reason);
  }

  /** What of a draft breaks its `inputSchema` (RT-ARGS); nothing where there is none to ask. */
  async check(draft: Draft): Promise<readonly SchemaFault[]> {
    const offer = this.phone.shelf.offer(draft.server, draft.operation);
    return typeof offer === 'string' ? [] : (await judgeArguments(offer.tool, draft.arguments)).faults;
  }

  /** As the command line has it where the person at it says no. */
  async decline(draft: Draft): Promise<Said> {
    const runtime = await this.#switchboard.open();
    const invocation = this.#address(draft, runtime);
    runtime.deny(invocation, { by: 'person', reason: 'the user said no' });
    return done('not called, which is on record');
  }

  needsConsent(server: string, operation: string): boolean {
    const offer = this.phone.shelf.offer(server, operation);
    const { policy, yes } = this.phone.manners.consent;
    if (yes || typeof offer === 'string' || offer.tool.annotations?.destructive !== true) return false;
    const ruling = rulingOn(policy, offer.tool);
    return ruling.allowed && !ruling.isNamed;
  }

  /** Null of what is no call of this session. */
  serverOf(key: string): string | null {
    return this.#servers.get(key) ?? null;
  }

  /** Null of what is no call of this session. */
  calledAs(key: string): CalledAs | null {
    const target = this.#offers.get(key)?.target;
    const { groupId } = this.phone.manners;
    return target ? { target, groupId, validates: !this.isUnvalidated(key) } : null;
  }

  isUnvalidated(key: string): boolean {
    return this.#unvalidated.has(key);
  }

  answer(key: string, leg: string, selected: number): Said | null {
    const exchange = this.phone.book.history.exchanges.get(key);
    const question = exchange?.questions.find(each => each.leg === leg)?.message;
    if (question?.type !== 'user_choice') return failed('there is no such question');
    if (question.choices[selected] === undefined) return failed('there is no such choice');
    return this.#answers.give(question, selected) ? null : failed('nobody waits for this answer any more');
  }

  async cancel(key: string): Promise<Said> {
    const exchange = this.phone.book.history.exchanges.get(key);
    const offer = this.#offers.get(key);
    if (!exchange || !offer) return failed('this call is none of this session');
    if (!canBeGivenUp(exchange)) return failed('there is nothing to cancel: it is over');
    return told(await giveUp(offer.wire, offer.discovered.base, exchange, 'person'));
  }

  /** Nothing is sent from now on. Gives up what is under way, closes the threads that are ours, and the listener. */
  async leave(): Promise<void> {
    this.#switchboard.end();
    await Promise.all(this.#runs); // what they send meanwhile is given up, too
    const { clock, book, shelf, manners } = this.phone;
    const calls = [...this.#offers].flatMap(([key, at]) => {
      const exchange = book.history.exchanges.get(key);
      return exchange ? [{ exchange, at }] : [];
    });
    const threads = new Set(calls.map(({ exchange }) => exchange.invocation.group_id));
    const ours = manners.groupId === null ? [...threads] : [];
    await bidFarewell({ calls, threads: ours, servers: shelf.found }, clock);
    await this.#switchboard.close();
  }

  /** Returns its key. */
  async #send(draft: Draft, offer: Offer, validates: boolean): Promise<string> {
    const runtime = await this.#switchboard.open();
    const invocation = this.#address(draft, runtime);
    this.#offers.set(invocation.id, offer);
    if (!validates) this.#unvalidated.add(invocation.id);
    await dial(this.phone, runtime, offer, invocation, this.phone.manners, this.#answers.answering);
    return invocation.id;
  }

  #address(draft: Draft, runtime: Runtime) {
    const { redactor, manners } = this.phone;
    const { invocation, token } = runtime.address(callOf(draft, manners));
    redactor.add(token);
    this.#servers.set(invocation.id, draft.server);
    return invocation;
  }
}

function refused(reason: string): Sent {
  return { kind: 'refused', reason };
}

function told(answer: NoticeAnswer): Said {
  if (isTaken(answer)) return done('given up, and the tool was told');
  const why = answer.kind === 'answered' ? `it answered ${answer.status}` : answer.reason;
  return failed(`given up here, but the tool could not be told: ${why}`);
}
