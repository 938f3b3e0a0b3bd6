import { isUtf8 } from 'node:buffer';
import { Content } from '../../exchange/content.js';
import {
  type Addressee,
  addresseeIn,
  type InvocationReading,
  readInvocation,
} from '../../protocol/read-invocation.js';
import { readJson } from '../../text/json.js';
import type { Incoming, Reply } from '../../transport/server.js';
import type { Answers } from '../answers/answers.js';
import { type Plan, refusal } from '../answers/plan.js';
import type { Caller } from '../conversation/call.js';
import { type Desk, RapConversation } from '../conversation/rap-conversation.js';
import { acknowledge } from './acknowledge.js';
import type { CallsUnderWay } from './calls-under-way.js';
import type { Repeats, Sighting } from './repeats.js';
import { baseFor, type Concern, ServedRequest } from './served-request.js';
import { carryOut } from './work.js';

export interface IntakeParts {
  readonly desk: Desk;
  /** Whoever answers at the moment: fixtures may be replaced. */
  readonly answers: () => Answers;
  readonly repeats: Repeats;
  readonly underWay: CallsUnderWay;
  /** A repeated invocation is executed again. */
  readonly allowRepeats: boolean;
  /** Resolves when the tool stops. */
  readonly stopped: Promise<void>;
}

/** Takes invocations: acknowledged at once, worked on afterwards (TOOL-ACK, TOOL-ASYNC). */
export class Intake {
  constructor(private readonly parts: IntakeParts) {}

  readonly receive = (incoming: Incoming): Reply | Promise<Reply> => {
    const body = new Content(incoming.body);
    const reading = readInvocation(readJson(incoming.body)); // not kept with the bytes: many are remembered
    const addressee = addresseeIn(reading);
    if (addressee) return this.#take(incoming, body, reading, addressee);
    return this.#giveUp(incoming, body, reading.ok ? [] : reading.faults);
  };

  async #take(
    incoming: Incoming,
    body: Content,
    reading: InvocationReading,
    addressee: Addressee,
  ): Promise<Reply> {
    const { desk, repeats, allowRepeats, underWay } = this.parts;
    const { group_id: thread, id } = addressee;
    const sighting = repeats.arrive(thread, id, body.sha256);
    const { key, attempt } = sighting;
    const about = { calls: [key], thread };
    const request = this.#serve(incoming, { purpose: 'invocation', about, body, attempt });
    if (sighting.isRepeat && !allowRepeats) return request.answer((await this.#unkept()) ?? 200);
    const overflow = underWay.problem(body.size);
    if (overflow !== null)
      return this.#turnAway(request, overflow, about, () => repeats.refuse(thread, id, body.sha256));
    const callingOff = underWay.begin(key, thread, body.size);
    const caller = { key, addressee, base: baseFor(incoming), callingOff };
    this.#warn(reading, sighting, about);
    const plan = await this.#plan(request, reading, caller, attempt);
    for (const fact of plan.facts) desk.log.emit(Object.assign(fact, about));
    const refusedWith = plan.ack?.kind === 'status' ? plan.ack.status : await this.#unkept();
    if (refusedWith === null) return this.#acknowledge(caller, plan, request);
    repeats.refuse(thread, id, body.sha256);
    underWay.end(caller.callingOff);
    return request.answer(refusedWith);
  }

  /** There is no room for one more: it may come again (threats, row 15). */
  #turnAway(request: ServedRequest, why: string, about: Concern, refuse: () => void): Reply {
    this.parts.desk.log.emit({ kind: 'dropped', what: 'invocation', why, count: 1, ...about });
    refuse();
    return request.answer(503);
  }

  #warn(reading: InvocationReading, { isReused }: Sighting, about: Concern): void {
    const warn = (message: string) => this.parts.desk.log.emit({ kind: 'warned', message, ...about });
    if (isReused) warn('its id is that of another call of this thread');
    if (reading.ok) for (const note of reading.notes) warn(`the invocation: ${note}`);
  }

  #plan({ headers }: ServedRequest, reading: InvocationReading, caller: Caller, attempt: number) {
    if (reading.ok)
      return this.parts.answers().plan({ caller, invocation: reading.invocation, headers }, attempt);
    return refusal(`the invocation is malformed: ${reading.faults.join('; ')}. Correct it and call again.`);
  }

  #acknowledge(caller: Caller, plan: Plan, request: ServedRequest): Reply | Promise<Reply> {
    const { desk, underWay, stopped } = this.parts;
    const conversation = new RapConversation(caller, desk, plan.faultsOf);
    const begin = () => carryOut(plan, conversation, underWay);
    return acknowledge({ plan, request, conversation, begin, stopped });
  }

  /** Nobody can be told anything: not even a callback URL could be read (TOOL-MALFORMED; threats, row 21). */
  #giveUp(incoming: Incoming, body: Content, faults: readonly string[]): Reply {
    const request = this.#serve(incoming, { purpose: 'invocation', about: {}, body });
    const why = `malformed, and without a callback URL: ${faults.join('; ')}`;
    this.parts.desk.log.emit({ kind: 'dropped', what: 'invocation', why, count: 1 });
    return request.answer(isUtf8(incoming.body) ? 200 : 400);
  }

  #serve(incoming: Incoming, served: ConstructorParameters<typeof ServedRequest>[2]): ServedRequest {
    return new ServedRequest(this.parts.desk.log, incoming, served);
  }

  /** What is not kept must come again: null where it is. */
  #unkept(): Promise<503 | null> {
    return this.parts.desk.log.kept().then(fine, unavailable);
  }
}

const fine = () => null;
const unavailable = () => 503 as const;
