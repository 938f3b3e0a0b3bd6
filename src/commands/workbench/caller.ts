import type { SchemaFault } from '../../json-schema/fault.js';
import type { Invocation } from '../../protocol/invocation.js';
import { type ArgumentsCheck, judgeArguments } from '../../runtime/check-call.js';
import { rulingOn } from '../../runtime/policy.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { Redactor } from '../../text/redact.js';
import type { Draft, RunOptions, Said, Sent } from '../../ui/workbench/controls.js';
import type { Denial } from '../invoke/consent.js';
import type { Answers } from './answers.js';
import { callOf } from './call-of.js';
import { dial, type Scene } from './dialling.js';
import { bidFarewell } from './farewell.js';
import type { Ledger } from './ledger.js';
import type { Manners } from './manners.js';
import { done, reasonOf } from './said.js';
import type { Offer, Shelf } from './shelf.js';
import { Switchboard } from './switchboard.js';

const UNJUDGED: ArgumentsCheck = { faults: [], warnings: [] };
const NOT_AGREED = 'it is marked destructive, and nobody agreed to call it';

/** What calls are made with. */
export interface Phone extends Scene {
  readonly redactor: Redactor;
  readonly shelf: Shelf;
  readonly manners: Manners;
  readonly ledger: Ledger;
  readonly answers: Answers;
}

/** Makes the calls of a session, until its end. */
export class Caller {
  readonly #switchboard: Switchboard;
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
    await this.#record(draft, { by: 'policy', reason });
    return refused(reason);
  }

  /** What of a draft breaks its `inputSchema` (RT-ARGS); nothing where there is none to ask. */
  async check(draft: Draft): Promise<readonly SchemaFault[]> {
    const offer = this.phone.shelf.offer(draft.server, draft.operation);
    return typeof offer === 'string' ? [] : (await judgeArguments(offer.tool, draft.arguments)).faults;
  }

  /** As the command line has it where the person at it says no. */
  async decline(draft: Draft): Promise<Said> {
    await this.#record(draft, { by: 'person', reason: 'the user said no' });
    return done('not called, which is on record');
  }

  needsConsent(server: string, operation: string): boolean {
    const offer = this.phone.shelf.offer(server, operation);
    const { policy, yes } = this.phone.manners.consent;
    if (yes || typeof offer === 'string' || offer.tool.annotations?.destructive !== true) return false;
    const ruling = rulingOn(policy, offer.tool);
    return ruling.allowed && !ruling.isNamed;
  }

  /** Nothing is sent from now on. Gives up what is under way, closes the threads that are ours, and the listener. */
  async leave(): Promise<void> {
    this.#switchboard.end();
    await Promise.all(this.#runs); // what they send meanwhile is given up, too
    const { clock, book, shelf, manners, ledger } = this.phone;
    const calls = [...ledger.offers()].flatMap(([key, at]) => {
      const exchange = book.history.exchanges.get(key);
      return exchange ? [{ exchange, at }] : [];
    });
    const threads = new Set(calls.map(({ exchange }) => exchange.invocation.group_id));
    const ours = manners.groupId === null ? [...threads] : [];
    await bidFarewell({ calls, threads: ours, servers: shelf.found }, clock);
    await this.#switchboard.close();
  }

  async #record(draft: Draft, denial: Denial): Promise<void> {
    const runtime = await this.#switchboard.open();
    const invocation = this.#address(draft, runtime);
    this.phone.ledger.denied(invocation.id, draft.server);
    runtime.deny(invocation, denial);
  }

  /** Returns its key. */
  async #send(draft: Draft, offer: Offer, validates: boolean): Promise<string> {
    const runtime = await this.#switchboard.open();
    const invocation = this.#address(draft, runtime);
    const { ledger, manners, answers } = this.phone;
    ledger.sent(invocation.id, draft.server, offer, validates);
    await dial(this.phone, runtime, offer, invocation, manners, answers.answering);
    return invocation.id;
  }

  #address(draft: Draft, runtime: Runtime): Invocation {
    const { redactor, manners } = this.phone;
    const { invocation, token } = runtime.address(callOf(draft, manners));
    redactor.add(token);
    return invocation;
  }
}

function refused(reason: string): Sent {
  return { kind: 'refused', reason };
}
