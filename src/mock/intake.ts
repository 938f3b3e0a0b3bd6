import { isUtf8 } from 'node:buffer';
import { Content } from '../events/content.js';
import type { RequestEvent } from '../events/events.js';
import type { Log } from '../events/log.js';
import { type RecordedRequest, recordRequest } from '../events/record-request.js';
import type { Answer, Incoming, Reply } from '../http/request-body.js';
import {
  type Addressee,
  addresseeIn,
  type InvocationReading,
  readInvocation,
} from '../protocol/read-invocation.js';
import { readJson } from '../util/json.js';
import { bytesText, isRecord } from '../util/json-diagnosis.js';
import { type Plan, refusal } from './answer-calls.js';
import type { Conversation } from './conversation.js';
import { RapConversation, type RapServices } from './rap-conversation.js';
import type { Arrival, Repeats } from './repeated-invocations.js';
import { CANCELLED, type Caller, Cancellation, THREAD_CLOSED } from './reply-waits.js';
import type { Answers } from './toolset.js';

/** Which call or thread a request is about, as far as that is known. */
export interface Concern {
  readonly calls?: string[];
  readonly thread?: string;
}

interface Served {
  readonly purpose: RequestEvent['purpose'];
  readonly about: Concern;
  readonly body?: Content;
  readonly attempt?: number;
}

/** A request that a runtime, or its user, makes to us, and what it is answered, as facts. */
export class ServedRequest {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly #request: RecordedRequest;

  constructor(log: Log, incoming: Incoming, { purpose, about, body, attempt = 1 }: Served) {
    this.headers = headersOf(incoming);
    this.#request = recordRequest(log, {
      from: purpose === 'consent' ? 'unknown' : 'runtime',
      to: 'tool',
      purpose,
      method: incoming.method,
      url: incoming.target,
      headers: this.headers,
      attempt,
      calls: about.calls,
      thread: about.thread,
      body,
    });
  }

  answer(status: number, more?: Omit<Answer, 'status'>): Answer {
    this.#request.answered(status);
    return more ? { status, ...more } : { status };
  }

  /** As {@link answer}, where what is said is worth telling: what a runtime does next follows from it. */
  answerWith(body: Content, answer: Answer): Answer {
    this.#request.answered(answer.status, { headers: lowerCased(answer.headers), body });
    return answer;
  }

  /** The connection ended without an answer, as planned. */
  broken(code: string): void {
    this.#request.broken('answer', code);
  }
}

function lowerCased(headers: Answer['headers'] = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Of a request; names in lower case. The very object, where nothing in it is a list: events hold on to it. */
export function headersOf({ headers }: Incoming): Readonly<Record<string, string>> {
  return isFlat(headers) ? headers : flattened(headers);
}

function isFlat(headers: Incoming['headers']): headers is Record<string, string> {
  for (const name in headers) if (typeof headers[name] !== 'string') return false;
  return true;
}

function flattened(headers: Incoming['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

/** Our base URL as the sender reaches us; the guard has checked `Host`. */
export function baseFor({ headers }: Incoming): string {
  return `http://${headers.host}`;
}

interface Acceptance {
  readonly plan: Plan;
  readonly request: ServedRequest;
  readonly conversation: RapConversation;
  /** Begins the work; resolves at its end. */
  readonly begin: () => Promise<void>;
  /** Resolves when the tool stops. */
  readonly stopped: Promise<void>;
}

/** 200 at once, then the work (TOOL-ACK); or what else the plan's faults make of it. */
function acknowledge(acceptance: Acceptance): Reply | Promise<Reply> {
  const { plan, request, begin } = acceptance;
  if (plan.ack || plan.faultsOf(0).length > 0) return acknowledgeOddly(acceptance);
  return request.answer(200, afterwards(begin));
}

async function acknowledgeOddly({ plan, request, conversation, begin, stopped }: Acceptance): Promise<Reply> {
  if (plan.faultsOf(0).some(({ kind }) => kind === 'before-ack')) {
    await Promise.race([begin(), conversation.begun()]);
    return request.answer(200);
  }
  switch (plan.ack?.kind) {
    case 'hang':
      void begin();
      await stopped;
      return reset(request);
    case 'reset':
      void begin();
      return reset(request);
    case 'delay':
      await conversation.pause(plan.ack.ms);
      break;
    default:
  }
  return request.answer(200, afterwards(begin));
}

/** The work waits for the other acknowledgements of its turn. */
function afterwards(begin: () => void): Pick<Answer, 'sent'> {
  return { sent: () => setImmediate(begin) };
}

function reset(request: ServedRequest): Reply {
  request.broken('PLANNED');
  return 'reset';
}

/** Bytes that an invocation is counted with while its call is open: what came, its text, and what the parsed values take. */
function weightOf(body: Uint8Array): number {
  if (body.length < SMALL) return body.length;
  let weight = 2 * body.length;
  for (const byte of body) weight += VALUE_COST[byte] ?? 0;
  return weight;
}

const SMALL = 64 * 1024;

/**
 * Heap bytes by the character before a value, measured with `JSON.parse` on Node 20 in texts of 4 MiB: an element 8 (numbers) to 32
 * (texts), a list 43 to 48, an empty object 64, an object with one name of its own 183, a member of a large object 84.
 */
const VALUE_COST = new Uint8Array(256);
for (const [before, bytes] of Object.entries({ ',': 32, ':': 80, '[': 48, '{': 64 }))
  VALUE_COST[before.charCodeAt(0)] = bytes;

const NOT_OPEN = { size: 0 };

function sizeClass(size: number): 'small' | 'large' {
  return size < SMALL ? 'small' : 'large';
}

/** What a runtime knows of a call. One that is executed twice has the same key twice. */
interface Named {
  readonly key: string;
  readonly thread: string;
  /** Bytes of its invocation. */
  readonly size: number;
}

interface WorkLimits {
  readonly calls: number;
  /** Of the invocations under 64 KiB, and of the larger ones: each have their own, so that large ones keep no small one out. */
  readonly bytes: number;
}

/** A call may stay open for hours, and its parsed invocation takes several times the bytes that came. */
const DEFAULTS: WorkLimits = { calls: 50_000, bytes: 128 * 1024 * 1024 };

/** The calls that are worked on, to be called off by what a runtime knows of them (TOOL-CANCEL, TOOL-CLOSE). */
export class OpenCalls {
  readonly #open = new Map<Cancellation, Named>();
  readonly #resting = new Map<Cancellation, Named>();
  readonly #limits: WorkLimits;
  readonly #bytes = { small: 0, large: 0 };
  #whenIdle: (() => void)[] = [];

  constructor(limits: Partial<WorkLimits> = {}) {
    this.#limits = { ...DEFAULTS, ...limits };
  }

  /** Why one more call of `size` bytes cannot be accepted, or null. One of any size is accepted where no other is open. */
  problem(size: number): string | null {
    const { calls, bytes } = this.#limits;
    if (this.#open.size >= calls) return `too many open calls: ${calls}`;
    const taken = this.#bytes[sizeClass(size)];
    return taken > 0 && taken + size > bytes
      ? `the open calls are too large: more than ${bytesText(bytes)}`
      : null;
  }

  /** @param size bytes of the invocation. */
  begin(key: string, thread: string, size = 0): Cancellation {
    const cancellation = new Cancellation();
    this.#open.set(cancellation, { key, thread, size });
    this.#bytes[sizeClass(size)] += size;
    return cancellation;
  }

  /** The work is done but events may follow: the call can still be cancelled, and does not delay shutdown. */
  rest(call: Cancellation): void {
    const named = this.#open.get(call);
    this.end(call);
    if (named) this.#resting.set(call, named);
  }

  end(call: Cancellation): void {
    this.#resting.delete(call);
    const { size } = this.#open.get(call) ?? NOT_OPEN;
    this.#bytes[sizeClass(size)] -= size;
    this.#open.delete(call);
    if (this.#open.size > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Unknown, repeated, or long over: never an error. */
  cancel(cancelled: string): void {
    this.#cancel(CANCELLED, ({ key }) => key === cancelled);
  }

  closeThread(closed: string): void {
    this.#cancel(THREAD_CLOSED, ({ thread }) => thread === closed);
  }

  stop(): void {
    this.#cancel('the tool is stopping', () => true);
  }

  /** Resolves once nothing is worked on. */
  idle(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise(resolve => this.#whenIdle.push(resolve));
  }

  #cancel(why: string, isMeant: (call: Named) => boolean): void {
    for (const calls of [this.#open, this.#resting])
      for (const [cancellation, named] of calls) if (isMeant(named)) cancellation.cancel(why);
  }
}

const QUOTED = /(['"`])(?:file:\/\/|[a-z]:)?[\\/][^'"`\n]*[\\/]([^'"`\\/\n]*)\1/gi;
const BARE = /(?<![\w:/\\\].-])(?:file:\/\/|[a-z]:)?[\\/][^\s'"`<>|,;()]*[\\/]([^\s'"`<>|,;()\\/]*)/gi;

/** Replaces the folders of absolute paths by `…`, since they reveal how a machine is set up. */
export function withoutPaths(message: string): string {
  return message.replace(QUOTED, '$1…/$2$1').replace(BARE, '…/$1');
}

const NO_LAST_EVENT =
  'the reply ended without a final event; the subscription stays open until it is canceled';

type Performed = Pick<Plan, 'perform' | 'words' | 'isOpenEnded'>;

/**
 * Does what was planned for a call, after its acknowledgement (TOOL-ASYNC). However that goes, the call ends in a result
 * (TOOL-ALWAYS): what is thrown on the way becomes its message, never a stack nor a path (TOOL-NOLEAK), and without secrets
 * (TOOL-SECRET). Never rejects.
 */
export async function work(plan: Performed, conversation: Conversation): Promise<void> {
  try {
    await plan.perform(conversation);
    if (!conversation.isAnswered) await conclude(conversation);
    if (!plan.isOpenEnded && conversation.goesOn) conversation.warn(NO_LAST_EVENT);
  } catch (error) {
    const message = tellable(messageOf(error), plan);
    conversation.warn(`the call failed: ${message}`);
    conversation.goesOnAt(undefined);
    if (conversation.isCancelled) await conversation.canceled();
    else if (!conversation.isAnswered)
      await conversation.outcome({ type: 'error', message: withoutPaths(message) });
  } finally {
    if (!plan.isOpenEnded || !conversation.goesOn) conversation.close();
  }
}

/** {@link work} on a call that is under way, and it stays so while events may follow: they can be called off, but not waited for. */
export async function carryOut(
  plan: Performed,
  conversation: Conversation,
  openCalls: OpenCalls,
): Promise<void> {
  const { cancellation } = conversation.caller;
  try {
    await work(plan, conversation);
    if (conversation.isClosed) return;
    openCalls.rest(cancellation);
    await conversation.over();
    conversation.close();
  } finally {
    openCalls.end(cancellation);
  }
}

/** If redaction fails, the message is withheld. */
function tellable(message: string, { words }: Pick<Plan, 'words'>): string {
  try {
    return words ? words(message) : message;
  } catch {
    return 'the tool failed';
  }
}

/** Whatever was thrown: it may be anything. */
function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  if (isRecord(error) && typeof error['message'] === 'string') return error['message'];
  return typeof error === 'object' || typeof error === 'function' ? 'the tool failed' : String(error);
}

function conclude(conversation: Conversation): Promise<void> {
  if (conversation.isCancelled) return conversation.canceled();
  return conversation.outcome({ type: 'error', message: 'the tool ended without a result' });
}

export interface IntakeParts {
  readonly services: RapServices;
  /** A function, since fixtures may be replaced. */
  readonly answers: () => Answers;
  readonly repeats: Repeats;
  readonly openCalls: OpenCalls;
  /** A repeated invocation is executed again. */
  readonly allowRepeats: boolean;
  /** Resolves when the tool stops. */
  readonly stopped: Promise<void>;
}

/** Takes invocations: acknowledged at once, worked on afterwards (TOOL-ACK, TOOL-ASYNC). */
export class Intake {
  constructor(private readonly parts: IntakeParts) {}

  readonly receive = (incoming: Incoming): Reply | Promise<Reply> => {
    const { length } = incoming.body;
    const overflow = length < SMALL ? null : this.parts.openCalls.problem(2 * length);
    if (overflow !== null) return this.#turnAwayUnread(incoming, overflow);
    const weight = weightOf(incoming.body);
    const body = new Content(incoming.body);
    const reading = readInvocation(readJson(incoming.body)); // not kept with the bytes: many are remembered
    const addressee = addresseeIn(reading);
    if (addressee) return this.#take(incoming, body, reading, addressee, weight);
    return this.#giveUp(incoming, body, reading.ok ? [] : reading.faults);
  };

  async #take(
    incoming: Incoming,
    body: Content,
    reading: InvocationReading,
    addressee: Addressee,
    weight: number,
  ): Promise<Reply> {
    const { services, repeats, allowRepeats, openCalls } = this.parts;
    const { group_id: thread, id } = addressee;
    const arrival = repeats.arrive(thread, id, body.sha256);
    const { key, attempt } = arrival;
    const about = { calls: [key], thread };
    const request = this.#serve(incoming, { purpose: 'invocation', about, body, attempt });
    if (arrival.isRepeat && !allowRepeats) return request.answer((await this.#unkept()) ?? 200);
    const overflow = openCalls.problem(weight);
    if (overflow !== null)
      return this.#turnAway(request, overflow, about, () => repeats.refuse(thread, id, body.sha256));
    const cancellation = openCalls.begin(key, thread, weight);
    const caller = { key, addressee, base: baseFor(incoming), cancellation };
    this.#warn(reading, arrival, about);
    const plan = await this.#plan(request, reading, caller, attempt);
    for (const fact of plan.facts) services.log.emit(Object.assign(fact, about));
    const refusedWith = plan.ack?.kind === 'status' ? plan.ack.status : await this.#unkept();
    if (refusedWith === null) return this.#acknowledge(caller, plan, request);
    repeats.refuse(thread, id, body.sha256);
    openCalls.end(caller.cancellation);
    return request.answer(refusedWith);
  }

  /** To parse what is refused anyway would keep the others waiting: about a second for 10 MiB of values. */
  #turnAwayUnread(incoming: Incoming, why: string): Reply {
    return this.#turnAway(this.#serve(incoming, { purpose: 'invocation', about: {} }), why, {});
  }

  /** The runtime may send the call again (threats, row 15). */
  #turnAway(request: ServedRequest, why: string, about: Concern, refuse = () => {}): Reply {
    this.parts.services.log.emit({ kind: 'dropped', what: 'invocation', why, count: 1, ...about });
    refuse();
    return request.answer(503);
  }

  #warn(reading: InvocationReading, { isReused }: Arrival, about: Concern): void {
    const warn = (message: string) => this.parts.services.log.emit({ kind: 'warned', message, ...about });
    if (isReused) warn('another call of this thread has the same id');
    if (reading.ok) for (const note of reading.notes) warn(`the invocation: ${note}`);
  }

  #plan({ headers }: ServedRequest, reading: InvocationReading, caller: Caller, attempt: number) {
    if (reading.ok)
      return this.parts.answers().plan({ caller, invocation: reading.invocation, headers }, attempt);
    return refusal(`the invocation is malformed: ${reading.faults.join('; ')}. Correct it and call again.`);
  }

  #acknowledge(caller: Caller, plan: Plan, request: ServedRequest): Reply | Promise<Reply> {
    const { services, openCalls, stopped } = this.parts;
    const conversation = new RapConversation(caller, services, plan.faultsOf);
    const begin = () => carryOut(plan, conversation, openCalls);
    return acknowledge({ plan, request, conversation, begin, stopped });
  }

  /** Without a callback URL there is no way to report the error (TOOL-MALFORMED; threats, row 21). */
  #giveUp(incoming: Incoming, body: Content, faults: readonly string[]): Reply {
    const request = this.#serve(incoming, { purpose: 'invocation', about: {}, body });
    const why = `malformed invocation without a callback URL: ${faults.join('; ')}`;
    this.parts.services.log.emit({ kind: 'dropped', what: 'invocation', why, count: 1 });
    return request.answer(isUtf8(incoming.body) ? 200 : 400);
  }

  #serve(incoming: Incoming, served: ConstructorParameters<typeof ServedRequest>[2]): ServedRequest {
    return new ServedRequest(this.parts.services.log, incoming, served);
  }

  /** What is not kept must come again: null where it is. */
  #unkept(): Promise<503 | null> {
    return this.parts.services.log.kept().then(fine, unavailable);
  }
}

const fine = () => null;
const unavailable = () => 503 as const;
