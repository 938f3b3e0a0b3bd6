import { isUtf8 } from 'node:buffer';
import { Content } from '../events/content.js';
import type { Body, Purpose, RequestEvent } from '../events/events.js';
import type { FaultyRequest } from '../events/faults.js';
import { ServedRequest } from '../events/log.js';
import type { RequestFault } from '../fixtures/file-schema.js';
import { type Answer, type Denial, type Incoming, type Reply, routeAt } from '../http/route.js';
import { addresseeIn, type InvocationReading, readInvocation } from '../protocol/invocation.js';
import { readJson } from '../util/json.js';
import { Conversation } from './conversation.js';
import type { Mock } from './mock.js';
import { type CallReference, OpenCall } from './open-call.js';
import type { Outbox } from './outbox.js';
import { malformedRefusal, type Plan } from './plan.js';
import { type RapQuestions, RapWire } from './rap-wire.js';
import { type KnownCall, Repeats } from './repeats.js';

/** Refusals of invocations that are errors of the runtime. */
const REFUSED_INVOCATIONS: ReadonlySet<Denial['reason']> = new Set(['method', 'media-type', 'encoding']);

/** What the log shows of a request besides its head. */
export type RequestDetails = Partial<Pick<RequestEvent, 'calls' | 'thread' | 'body' | 'attempt' | 'url'>>;

export interface IntakeOptions {
  /** Number of invocations by which repeated ones are detected. */
  readonly remembered: number;
  /** Whether repeated invocations are executed again. */
  readonly allowRepeats?: boolean;
}

/**
 * Receives the requests of runtimes, with their planned faults. Acknowledges invocations at once and works on them afterwards
 * (TOOL-ACK, TOOL-ASYNC).
 */
export class Intake {
  readonly route = routeAt('/invoke', 'POST', 'json', (incoming, body) => this.#receive(incoming, body));
  readonly repeats: Repeats;
  readonly #allowsRepeats: boolean;
  #stop: () => void = () => {};
  readonly #stopped = new Promise<void>(resolve => {
    this.#stop = resolve;
  });

  constructor(
    private readonly mock: Mock,
    private readonly outbox: Outbox,
    private readonly questions: RapQuestions,
    { remembered, allowRepeats = false }: IntakeOptions,
  ) {
    this.repeats = new Repeats(remembered);
    this.#allowsRepeats = allowRepeats;
  }

  /** Logs a request of a runtime or its user. @param more its calls, body and attempt */
  request(incoming: Incoming, purpose: Purpose, more?: RequestDetails): ServedRequest {
    const from = purpose === 'consent' ? 'unknown' : 'runtime';
    return new ServedRequest(this.mock.log, incoming, { from, to: 'tool', purpose, ...more });
  }

  /** Answers a request, unless the fixtures plan a fault for it; it then has no effect, or has it after a delay. */
  async answering(
    kind: FaultyRequest,
    request: ServedRequest,
    answer: () => Promise<Reply>,
    about?: CallReference,
  ): Promise<Reply> {
    const { responder, log, pauses } = this.mock;
    const fault = responder.faultOf(kind);
    if (!fault) return answer();
    log.emit({ kind: 'planned', by: 'fault', plan: `${kind} ${fault.kind}`, ...about });
    const planned = await this.#answerFaultily(request, fault, ms => pauses.wait(ms));
    return planned ?? answer();
  }

  /** Logs a request that no route answered. An invocation that was refused for its head alone is logged as a message too. */
  refused(denial: Denial, request: Incoming): void {
    const { reason, status, detail } = denial;
    this.mock.warnOfRefusal(denial, request);
    if (request.target !== this.route.name || !REFUSED_INVOCATIONS.has(reason)) return;
    this.request(request, 'invocation').recordResponse(status, { refusal: detail });
  }

  async #receive(incoming: Incoming, bytes: Uint8Array): Promise<Reply> {
    const { log, openCalls, pauses, responder } = this.mock;
    const problem = openCalls.problem(bytes);
    if (problem !== null) return this.#turnAway(this.request(incoming, 'invocation'), problem, {});
    const body = new Content(bytes);
    const reading = readInvocation(readJson(bytes)); // the bytes are not kept with it: many calls are remembered
    const addressee = addresseeIn(reading);
    if (!addressee) return this.#giveUp(this.request(incoming, 'invocation', { body }), bytes, reading);
    const arrival = this.repeats.arrive(addressee.group_id, addressee.id, body.sha256);
    const { key, attempts: attempt } = arrival.call;
    const call = new OpenCall({ key, addressee, base: incoming.base }, log, pauses);
    const request = this.request(incoming, 'invocation', { body, attempt, ...call.about });
    if (arrival.isRepeat && !this.#allowsRepeats) return request.answer(await log.statusOnceStored(200));
    const overflow = openCalls.admit(call, bytes);
    if (overflow !== null) {
      arrival.call.isAccepted = false;
      return this.#turnAway(request, overflow, call.about);
    }
    if (arrival.isReused) call.warn('another call of this thread has the same id');
    if (reading.ok) for (const note of reading.notes) call.warn(`the invocation: ${note}`);
    const plan = reading.ok
      ? responder.plan({ invocation: reading.invocation, headers: incoming.headers }, attempt)
      : malformedRefusal('invocation', reading.faults);
    return this.#carryOut(plan, request, call, arrival.call);
  }

  /** Cancels the calls of a thread that was closed or migrated, and resets its counts. */
  closeThread(thread: string): void {
    this.mock.openCalls.closeThread(thread);
    this.mock.responder.reset(thread);
  }

  /** As {@link Mock.reset}; without a key it forgets the invocations too. */
  reset(key?: string): void {
    this.mock.reset(key);
    if (key === undefined) this.repeats.clear();
  }

  /** Ends the requests that hang as a fault plans it. */
  stop(): void {
    this.#stop();
  }

  async #carryOut(plan: Plan, request: ServedRequest, call: OpenCall, known: KnownCall): Promise<Reply> {
    for (const fact of plan.facts) this.mock.log.emit(Object.assign(fact, call.about));
    const refuse = (status: number): Reply => {
      known.isAccepted = false;
      this.mock.openCalls.end(call);
      return request.answer(status);
    };
    if (plan.ack?.kind === 'status') return refuse(plan.ack.value);
    const status = await this.mock.log.statusOnceStored(200);
    return status === 200 ? this.#acknowledge(request, plan, call) : refuse(status);
  }

  /** Sends 200 at once, then starts the work (TOOL-ACK), unless the plan contains a fault. */
  async #acknowledge(request: ServedRequest, plan: Plan, call: OpenCall): Promise<Reply> {
    const { ack, faultsOf } = plan;
    const wire = new RapWire(call, this.outbox, this.questions, faultsOf);
    const conversation = new Conversation(call, wire);
    const begin = () => this.mock.openCalls.carryOut(plan, conversation);
    if (faultsOf(0).some(({ kind }) => kind === 'before-ack')) {
      await Promise.race([begin(), wire.begun()]);
      return request.answer(200);
    }
    if (!ack) return acknowledged(request, begin);
    if (ack.kind === 'body')
      return { ...answerJsonText(request, ack.value), sent: () => setImmediate(begin) };
    if (ack.kind !== 'delay') void begin(); // a hang or a reset: a status refuses the call
    const reply = await this.#answerFaultily(request, ack, ms => conversation.pause(ms));
    return reply ?? acknowledged(request, begin);
  }

  /** Responds as a planned fault says; null after a delay, if the usual response follows. */
  async #answerFaultily(
    request: ServedRequest,
    fault: RequestFault,
    pause: (ms: number) => Promise<void>,
  ): Promise<Reply | null> {
    switch (fault.kind) {
      case 'status':
        return request.answer(fault.value);
      case 'body':
        return answerJsonText(request, fault.value);
      case 'delay':
        await pause(fault.value);
        return null;
      case 'hang':
        await Promise.race([this.#stopped, new Promise<void>(resolve => request.incoming.onGone(resolve))]);
        return request.reset(PLANNED);
      default:
        fault.kind satisfies 'reset';
        return request.reset(PLANNED);
    }
  }

  /** Lets the runtime send the call again (threats, row 15). */
  #turnAway(request: ServedRequest, why: string, about: CallReference): Reply {
    this.mock.log.emit({ kind: 'dropped', what: 'invocation', why, count: 1, ...about });
    return request.answer(503);
  }

  /** Logs the error only: without a callback URL it cannot be reported (TOOL-MALFORMED; threats, row 21). */
  #giveUp(request: ServedRequest, bytes: Uint8Array, reading: InvocationReading): Reply {
    const faults = reading.ok ? '' : reading.faults.join('; ');
    const why = `malformed invocation without a callback URL: ${faults}`;
    this.mock.log.emit({ kind: 'dropped', what: 'invocation', why, count: 1 });
    return request.answer(isUtf8(bytes) ? 200 : 400);
  }
}

/** The code of a connection that breaks because the fixtures say so. */
const PLANNED = 'PLANNED';

const JSON_TYPE = { 'Content-Type': 'application/json' };

const LOGGED_TYPE = { 'content-type': JSON_TYPE['Content-Type'] };

/** Responds with JSON that the log shows too. */
export function answerJson(request: ServedRequest, body: Body): Answer {
  return request.answer(200, { headers: JSON_TYPE, body: body.bytes }, { headers: LOGGED_TYPE, body });
}

function answerJsonText(request: ServedRequest, text: string): Answer {
  return answerJson(request, new Content(Buffer.from(text)));
}

/** Starts the work after the other acknowledgements of this turn. */
function acknowledged(request: ServedRequest, begin: () => Promise<void>): Reply {
  return request.answer(200, { sent: () => setImmediate(begin) });
}
