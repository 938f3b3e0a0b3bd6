import { isUtf8 } from 'node:buffer';
import { Content } from '../events/content.js';
import type { RequestEvent } from '../events/events.js';
import type { Log } from '../events/log.js';
import { type RecordedRequest, recordRequest } from '../events/record-request.js';
import type { Answer, Incoming, Reply } from '../http/route.js';
import {
  type Addressee,
  addresseeIn,
  type InvocationReading,
  readInvocation,
} from '../protocol/read-invocation.js';
import { readJson } from '../util/json.js';
import type { MockState } from './mock-state.js';
import { carryOut, malformedRefusal, type Plan, weightOf } from './plan.js';
import { RapConversation } from './rap-conversation.js';

/** Which call or thread a request is about, as far as that is known. */
export interface Concern {
  readonly calls?: string[];
  readonly thread?: string;
}

interface ServedParts {
  readonly about?: Concern;
  readonly body?: Content;
  readonly attempt?: number;
}

type Headers = Readonly<Record<string, string>>;

const NOTHING = Object.freeze({});

/** A request of a runtime, or of its user, and our answer, in the log. */
export class ServedRequest {
  /** Names in lower case. */
  readonly headers: Headers;
  readonly #request: RecordedRequest;

  constructor(
    log: Log,
    incoming: Incoming,
    purpose: RequestEvent['purpose'],
    { about: { calls, thread } = NOTHING, body, attempt = 1 }: ServedParts = NOTHING,
  ) {
    this.headers = flatHeaders(incoming.headers);
    this.#request = recordRequest(log, {
      from: purpose === 'consent' ? 'unknown' : 'runtime',
      to: 'tool',
      purpose,
      method: incoming.method,
      url: incoming.target,
      headers: this.headers,
      attempt,
      calls,
      thread,
      body,
    });
  }

  answer(status: number, more?: Omit<Answer, 'status'>): Answer {
    this.#request.answered(status);
    return more ? { status, ...more } : { status };
  }

  /** As {@link answer}, with a body for the log. */
  answerWith(body: Content, headers: Headers): Answer {
    const lowerCased = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
    this.#request.answered(200, { headers: Object.fromEntries(lowerCased), body });
    return { status: 200, headers, body: body.bytes };
  }

  /** Breaks the connection without an answer, as planned. */
  reset(): Reply {
    this.#request.broken('answer', 'PLANNED');
    return 'reset';
  }
}

/** The same object if no value is a list: events hold on to it. */
function flatHeaders(headers: Incoming['headers']): Headers {
  for (const name in headers)
    if (typeof headers[name] !== 'string')
      return Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, String(value)]));
  return headers as Headers;
}

/** Our base URL as the sender reaches us; the guard has checked `Host`. */
export function baseFor({ headers }: Incoming): string {
  return `http://${headers.host}`;
}

interface Received {
  readonly incoming: Incoming;
  readonly body: Content;
  readonly reading: InvocationReading;
  readonly addressee: Addressee;
  /** Bytes that it is counted with. */
  readonly weight: number;
}

/** Takes invocations: acknowledged at once, worked on afterwards (TOOL-ACK, TOOL-ASYNC). */
export class Intake {
  /** @param stopped resolves when the tool stops. */
  constructor(
    private readonly state: MockState,
    private readonly allowRepeats: boolean,
    private readonly stopped: Promise<void>,
  ) {}

  readonly receive = (incoming: Incoming): Reply | Promise<Reply> => {
    const { log, openCalls } = this.state;
    const overflow = openCalls.problemUnread(incoming.body);
    if (overflow !== null)
      return this.#turnAway(new ServedRequest(log, incoming, 'invocation'), overflow, {});
    const body = new Content(incoming.body);
    const reading = readInvocation(readJson(incoming.body)); // not kept with the bytes: many are remembered
    const addressee = addresseeIn(reading);
    if (!addressee) return this.#giveUp(incoming, body, reading.ok ? [] : reading.faults);
    return this.#take({ incoming, body, reading, addressee, weight: weightOf(incoming.body) });
  };

  async #take(received: Received): Promise<Reply> {
    const { log, repeats, openCalls } = this.state;
    const { incoming, body, reading, addressee, weight } = received;
    const { group_id: thread, id } = addressee;
    const arrival = repeats.arrive(thread, id, body.sha256);
    const { key, attempt } = arrival;
    const about = { calls: [key], thread };
    const request = new ServedRequest(log, incoming, 'invocation', { about, body, attempt });
    if (arrival.isRepeat && !this.allowRepeats) return request.answer((await this.#keepingFailed()) ?? 200);
    const refuse = () => repeats.refuse(thread, id, body.sha256);
    const overflow = openCalls.problem(weight);
    if (overflow !== null) {
      refuse();
      return this.#turnAway(request, overflow, about);
    }
    const cancellation = openCalls.begin(key, thread, weight);
    const caller = { key, addressee, base: baseFor(incoming), cancellation };
    this.#warn(reading, arrival.isReused, about);
    const plan = reading.ok
      ? await this.state.responder.plan(
          { caller, invocation: reading.invocation, headers: request.headers },
          attempt,
        )
      : malformedRefusal('invocation', reading.faults);
    for (const fact of plan.facts) log.emit(Object.assign(fact, about));
    const status = plan.ack?.kind === 'status' ? plan.ack.status : await this.#keepingFailed();
    if (status === null)
      return this.#acknowledge(
        request,
        plan,
        new RapConversation(caller, this.state.services, plan.faultsOf),
      );
    refuse();
    openCalls.end(cancellation);
    return request.answer(status);
  }

  /** 200 at once, then the work (TOOL-ACK); or what the faults of the plan make of it. */
  #acknowledge(request: ServedRequest, plan: Plan, conversation: RapConversation): Reply | Promise<Reply> {
    const begin = () => carryOut(plan, conversation, this.state.openCalls);
    if (plan.ack || plan.faultsOf(0).length > 0)
      return this.#acknowledgeWithFaults(request, plan, conversation, begin);
    return acknowledged(request, begin);
  }

  async #acknowledgeWithFaults(
    request: ServedRequest,
    { ack, faultsOf }: Plan,
    conversation: RapConversation,
    begin: () => Promise<void>,
  ): Promise<Reply> {
    if (faultsOf(0).some(({ kind }) => kind === 'before-ack')) {
      await Promise.race([begin(), conversation.begun()]);
      return request.answer(200);
    }
    switch (ack?.kind) {
      case 'hang':
      case 'reset':
        void begin();
        if (ack.kind === 'hang') await this.stopped;
        return request.reset();
      case 'delay':
        await conversation.pause(ack.ms);
        break;
      case 'status': // refused before
      case undefined:
        break;
      default:
        ack satisfies never | undefined;
    }
    return acknowledged(request, begin);
  }

  /** The runtime may send the call again (threats, row 15). */
  #turnAway(request: ServedRequest, why: string, about: Concern): Reply {
    this.state.log.emit({ kind: 'dropped', what: 'invocation', why, count: 1, ...about });
    return request.answer(503);
  }

  #warn(reading: InvocationReading, isReused: boolean, about: Concern): void {
    const warn = (message: string) => this.state.log.emit({ kind: 'warned', message, ...about });
    if (isReused) warn('another call of this thread has the same id');
    if (reading.ok) for (const note of reading.notes) warn(`the invocation: ${note}`);
  }

  /** Without a callback URL the error cannot be reported (TOOL-MALFORMED; threats, row 21). */
  #giveUp(incoming: Incoming, body: Content, faults: readonly string[]): Reply {
    const { log } = this.state;
    const request = new ServedRequest(log, incoming, 'invocation', { body });
    const why = `malformed invocation without a callback URL: ${faults.join('; ')}`;
    log.emit({ kind: 'dropped', what: 'invocation', why, count: 1 });
    return request.answer(isUtf8(incoming.body) ? 200 : 400);
  }

  /** 503 if the journal could not keep what came: the runtime must send it again. */
  #keepingFailed(): Promise<503 | null> {
    return this.state.log.kept().then(kept, notKept);
  }
}

const kept = () => null;

const notKept = () => 503 as const;

/** The work waits for the other acknowledgements of its turn. */
function acknowledged(request: ServedRequest, begin: () => Promise<void>): Reply {
  return request.answer(200, { sent: () => setImmediate(begin) });
}
