import { unread } from '../../events/bounded-events.js';
import type { Event, Fact } from '../../events/events.js';
import type { Log } from '../../events/log.js';
import { callbackSecrets } from '../../events/shareable.js';
import {
  type CallbackDelivery,
  isDelivered,
  type ToolCall,
  toolCallState,
  typeOfDelivery,
} from '../../events/tool-call.js';
import { ToolCalls } from '../../events/tool-calls.js';
import { transcriptWriter } from '../../events/transcript-writer.js';
import { addresseeIn, readInvocation } from '../../protocol/read-invocation.js';
import { redactJson } from '../../util/redact-json.js';
import { type Plan, plain } from '../answer-calls.js';
import { carryOut, type OpenCalls } from '../intake.js';
import { RapConversation, type RapServices } from '../rap-conversation.js';
import { typeOf } from '../send-callback.js';
import type { Answers } from '../toolset.js';
import { isLast, type Recovered, type Rendered } from './recovery.js';

/** What a mock remembers at the moment. */
interface Remembered {
  readonly kept: readonly Event[];
  readonly forgotten: number;
}

/**
 * What a mock remembers of its calls, without the secrets of callback URLs, in pieces that are made while they are sent. Secrets are
 * collected once per event.
 */
export class JournalReports {
  readonly #secrets = callbackSecrets();
  #learned = -1;
  readonly #shared = new Map<string, WeakRef<SharedPieces>>();

  constructor(
    private readonly remembered: Remembered,
    private readonly about: { readonly startedAt: string; readonly program: string },
  ) {}

  /** For tests in any language: plain JSON, call by call. */
  report(): Iterable<Uint8Array> {
    return this.#share('report', kept => this.#report(kept));
  }

  /** The same as the lines of a transcript. */
  transcript(): Iterable<Uint8Array> {
    return this.#share('transcript', kept => this.#transcript(kept));
  }

  /** Many may ask before anything more happens, and read slowly. */
  #share(form: string, write: (kept: readonly Event[]) => Generator<string>): SharedPieces {
    const { kept, forgotten } = this.remembered;
    const state = [form, kept.at(-1)?.seq, kept.length, forgotten].join();
    const known = this.#shared.get(state)?.deref();
    if (known) return known;
    this.#learn(kept);
    const pieces = new SharedPieces(write(kept));
    for (const [other, shared] of this.#shared) if (!shared.deref()) this.#shared.delete(other);
    this.#shared.set(state, new WeakRef(pieces));
    return pieces;
  }

  *#report(kept: readonly Event[]): Generator<string> {
    const { forgotten } = this.remembered;
    let separator = '{"calls":[';
    for (const [key, events] of byCall(kept)) {
      const call = ToolCalls.of(events.map(unread)).get(key);
      if (!call) continue;
      yield separator + redactJson(JSON.stringify(callReport(call)), this.#secrets);
      separator = ',';
    }
    const isEmpty = separator !== ',';
    yield `${isEmpty ? separator : ''}],"events":${kept.length},"forgotten":${forgotten}}`;
  }

  *#transcript(kept: readonly Event[]): Generator<string> {
    const writer = transcriptWriter(this.#secrets);
    yield `${writer.header({ ...this.about, observer: 'tool' })}\n`;
    for (const event of kept) for (const line of writer.event(unread(event))) yield `${line}\n`;
    yield `${writer.end('asked')}\n`;
  }

  #learn(events: readonly Event[]): void {
    for (const event of events) if (event.seq > this.#learned) this.#secrets.learn(event);
    this.#learned = Math.max(this.#learned, events.at(-1)?.seq ?? -1);
  }
}

const PIECE = 64 * 1024;

/** A text in pieces, each of which is made once, as its first reader comes to it; gone with the last reader. */
class SharedPieces implements Iterable<Uint8Array> {
  readonly #made: Uint8Array[] = [];

  constructor(private readonly text: Iterator<string>) {}

  *[Symbol.iterator](): Generator<Uint8Array> {
    for (let at = 0; ; at++) {
      const piece = this.#made[at] ?? this.#next();
      if (piece.length === 0) return;
      yield piece;
    }
  }

  #next(): Uint8Array {
    let text = '';
    while (text.length < PIECE) {
      const { done, value } = this.text.next();
      if (done) break;
      text += value;
    }
    const piece = Buffer.from(text);
    this.#made.push(piece);
    return piece;
  }
}

/** In the order in which the calls came. */
function byCall(events: readonly Event[]): Map<string, Event[]> {
  const calls = new Map<string, Event[]>();
  for (const event of events)
    for (const key of event.calls ?? []) {
      const known = calls.get(key);
      if (known) known.push(event);
      else calls.set(key, [event]);
    }
  return calls;
}

function callReport(call: ToolCall): object {
  const {
    invocation,
    addressee,
    answeredBy,
    nearest,
    receivedAt,
    arrivals,
    acknowledgement,
    warnings,
    dropped,
  } = call;
  return {
    id: addressee?.id ?? null,
    group_id: addressee?.group_id ?? null,
    operation: invocation?.operation ?? null,
    invocation,
    fixture: answeredBy,
    ...(nearest && { nearest }),
    state: toolCallState(call),
    receivedAt,
    arrivals,
    acknowledgement: { status: acknowledgement.status ?? null, at: acknowledgement.at ?? null },
    deliveries: call.deliveries.map(deliveryReport),
    dropped,
    warnings,
  };
}

function deliveryReport(delivery: CallbackDelivery): object {
  const { url, body, attempts } = delivery;
  return {
    type: typeOfDelivery(delivery),
    url,
    message: body?.json.ok ? body.json.value : null,
    delivered: isDelivered(delivery),
    attempts: attempts.map(({ leg: _, ...attempt }) => attempt),
  };
}

/** Logs a call of an earlier run: its request, its fixture and its result. */
function retell({ key, thread, invocation, headers, matched, rendered }: Recovered, log: Log): void {
  const emit = (fact: Fact) => log.emit({ ...fact, calls: [key], thread, earlier: true });
  const request = { kind: 'request', method: 'POST', attempt: 1 } as const;
  const called = { from: 'runtime', to: 'tool', purpose: 'invocation' } as const;
  emit({ ...request, ...called, leg: log.leg(), url: '', headers: { ...headers }, body: invocation });
  if (matched) emit({ ...matched });
  for (const { url, body, state } of rendered)
    if (state === 'delivered' && isLast(typeOf(body))) {
      const leg = log.leg();
      const said = { from: 'tool', to: 'runtime', purpose: 'callback' } as const;
      emit({ ...request, ...said, leg, url, headers: {}, body });
      emit({ kind: 'response', leg, status: 200, headers: {} });
    }
}

interface ResumptionParts {
  readonly services: RapServices;
  readonly answers: Pick<Answers, 'plan' | 'planAgain'>;
  readonly openCalls: OpenCalls;
  /** Our own base URL. */
  readonly base: string;
}

type CallPlanned = Omit<Parameters<Answers['plan']>[0], 'headers'>;

/**
 * Goes on with a call that was acknowledged before a restart: what was on its way goes out again, the same bytes, and then what
 * is left of its reply (threats, "Delivery faults").
 */
export async function resume(call: Recovered, parts: ResumptionParts): Promise<void> {
  const { services, openCalls, base } = parts;
  const reading = readInvocation(call.invocation.json);
  const addressee = addresseeIn(reading);
  if (!addressee) return;
  const cancellation = openCalls.begin(call.key, call.thread);
  if (call.cancelReason !== null) cancellation.cancel(call.cancelReason);
  const caller = { key: call.key, addressee, base, cancellation };
  retell(call, services.log);
  await postAgain(call, services);
  if (isAtEnd(call)) return openCalls.end(cancellation);
  const plan = reading.ok ? await planOf(call, { caller, ...reading }, parts).catch(failing) : null;
  const said = { callbacks: call.turn ? call.turn.index + 1 : 0, isAnswered: call.isAnswered };
  await carryOut(
    plan ?? insteadOf(call),
    new RapConversation(caller, services, plan?.faultsOf, said),
    openCalls,
  );
}

/** The result was sent, and no message follows or the call was cancelled. */
function isAtEnd({ isAnswered, turn, cancelReason }: Recovered): boolean {
  return isAnswered && (turn?.next === undefined || cancelReason !== null);
}

/** Null if the rest is unknown: an answer to an open question would arrive at an address that no longer exists. */
async function planOf(call: Recovered, about: CallPlanned, parts: ResumptionParts): Promise<Plan | null> {
  const { matched, headers, turn, refusal, cancelReason } = call;
  if (refusal !== null || cancelReason !== null) return null;
  if (matched === null) return planAnew(call, about, parts);
  if (turn?.next === undefined && call.rendered.some(isQuestion)) return null;
  return parts.answers.planAgain({ ...about, headers }, matched, turn?.next ?? []);
}

/** As the intake would have, had it not been interrupted. */
async function planAnew({ key, thread, headers }: Recovered, about: CallPlanned, parts: ResumptionParts) {
  const plan = await parts.answers.plan({ ...about, headers }, 1);
  for (const fact of plan.facts) parts.services.log.emit(Object.assign(fact, { calls: [key], thread }));
  return plan;
}

/** It was acknowledged: that it cannot be planned is said as any other failure of its work is (TOOL-ALWAYS). */
function failing(error: unknown): Plan {
  return plain([], () => Promise.reject(error));
}

const RESTARTED = 'the tool was restarted; call again';

/** Without a plan the call ends in an error; a cancelled call in a result that says so (TOOL-ALWAYS). */
function insteadOf({ refusal, cancelReason }: Recovered): Pick<Plan, 'perform'> {
  const message = refusal ?? RESTARTED;
  return {
    perform: conversation =>
      cancelReason === null ? conversation.outcome({ type: 'error', message }) : conversation.canceled(),
  };
}

async function postAgain({ key, thread, rendered }: Recovered, { outbox }: RapServices): Promise<void> {
  for (const { url, body, contentType, turn, state } of rendered)
    if (state === 'waiting') await outbox.post({ key, thread, url, body, contentType, turn });
}

function isQuestion({ body }: Rendered): boolean {
  const type = typeOf(body);
  return type === 'oauth' || type === 'user_choice';
}
