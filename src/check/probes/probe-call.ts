import { randomUUID } from 'node:crypto';
import { isLoopback } from '../../http/addresses.js';
import { TransportError } from '../../http/client.js';
import type { RequirementId } from '../../protocol/requirements.js';
import {
  type About,
  cancelToolCall,
  type Delivery,
  readAcknowledgement,
  respondToChoice,
  send,
  type Wire,
} from '../../runtime/notices.js';
import { readUrl } from '../../util/strings.js';
import {
  type Answering,
  arrivedWithin,
  hasReceived,
  type Inbox,
  isSubscription,
  type ProbeListener,
  pause,
  type ReceivedCallback,
  type WaitOptions,
} from './callback-listener.js';

/** A promise, and how to keep it. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T | PromiseLike<T>) => void;
}

/** What `Promise.withResolvers` gives where there is one. */
export function deferred<T>(): Deferred<T> {
  let resolve: Deferred<T>['resolve'] = () => {};
  const promise = new Promise<T>(keep => {
    resolve = keep;
  });
  return { promise, resolve };
}

/** What everything that is sent goes through. */
export interface ProbeContext extends WaitOptions {
  readonly wire: Wire;
  readonly listener: ProbeListener;
  /** Of the tool server. */
  readonly base: string;
  /** Where invocations go. */
  readonly endpoint: string;
  /** How long an observation is waited for, in ms; less once the tool has been silent for a whole window. */
  readonly windowMs: number;
  /** How long the answer to a request is waited for, in ms; less once the tool has answered nothing for a whole window. */
  readonly answerMs: number;
  /** Requirements wanted: what shows others alone is not done. */
  readonly wants: (id: RequirementId) => boolean;
  readonly onConsent: (url: string) => void;
  /** Threads that were invented, and are closed in the end. */
  readonly threads: Set<string>;
}

/** A tool has as long for a notice as for anything else. */
export function noticeOptions({
  answerMs: timeoutMs,
  signal,
}: ProbeContext): Pick<Delivery, 'timeoutMs' | 'signal'> {
  return { timeoutMs, signal };
}

/** What a call is meant to show, as the log records it. */
export interface Plan {
  readonly id: string;
  readonly checks: readonly RequirementId[];
  /** Which of the cases it is, from 0. */
  readonly case?: number;
  /** Its calls were made before, and are made once more alone. */
  readonly again?: true;
}

/** @param calls made for it; none where it is only meant */
export function recordPlan({ log }: Wire, { id, checks, case: index, again }: Plan, calls?: string[]): void {
  log.emit({
    kind: 'planned',
    by: 'probe',
    plan: id,
    checks: [...checks],
    ...(index !== undefined && { case: index }),
    ...(again && { again }),
    ...(calls && { calls }),
  });
}

/** A call whose tool may want to talk. */
interface Conversing {
  readonly key: string;
  readonly id: string;
  readonly thread: string;
  readonly inbox: Inbox;
  /** Whether a subscription is followed to its end. */
  readonly isFollowed: boolean;
}

/** Takes part in what a tool begins with a callback; undefined where that is nothing to it. */
type Flow = (
  context: ProbeContext,
  call: Conversing,
  callback: ReceivedCallback,
) => Promise<void> | undefined;

/** A question has its default selected, as a dismissed prompt does (TOOL-CHOICE). */
function choose(
  context: ProbeContext,
  { key, thread }: Conversing,
  { leg, message }: ReceivedCallback,
): Promise<void> | undefined {
  if (message?.type !== 'user_choice') return undefined;
  const { log } = context.wire;
  const { response_url: url, default: selected, id } = message;
  if (!isNear(url, context)) {
    log.emit({
      kind: 'warned',
      calls: [key],
      message: 'no selection was sent: response_url has a different host than the tool',
    });
    return undefined;
  }
  log.emit({ kind: 'decided', what: 'choice', by: 'policy', value: selected, question: leg, calls: [key] });
  return respondToChoice(context.wire, url, { key, thread, signal: context.signal }, { id, selected }).then(
    () => {},
  );
}

/** A check posts to the tool, and to no third party that it names: on this machine only where the tool is, too (threats, row 9). */
export function isNear(url: string, { base, endpoint }: Pick<ProbeContext, 'base' | 'endpoint'>): boolean {
  const there = readUrl(url);
  if (!there) return false;
  const isLocal = isLoopback(there.hostname);
  if (isLocal) return isLoopback(readUrl(base)?.hostname ?? '');
  return [base, endpoint].some(own => readUrl(own)?.host === there.host);
}

/** A person is shown where to go; the call's own window is the time there is (TOOL-OAUTH). */
function consent({ onConsent }: ProbeContext, _: Conversing, { message }: ReceivedCallback): undefined {
  if (message?.type === 'oauth') onConsent(message.auth_url);
}

/** Until the first event must have come: afterwards the subscription is cancelled all the same. */
const FIRST_EVENT_MS = 1_000;
/** A subscription is followed for so much of the window: others wait as long for what may not come. */
const FOLLOWED_FOR = 0.5;
/** How long nothing more may come after the end of a subscription, before others end their work. */
const QUIET_MS = 1_000;

/**
 * A subscription is cancelled after its first event, or after a while in which it is followed, unless it has ended; then nothing more
 * may come (TOOL-SUB). Where nobody asks for that, it is cancelled at once.
 */
function leaveSubscription(
  context: ProbeContext,
  call: Conversing,
  callback: ReceivedCallback,
): Promise<void> | undefined {
  return isSubscription(callback) ? leave(context, call) : undefined;
}

async function leave(context: ProbeContext, call: Conversing): Promise<void> {
  const { wire, base, signal } = context;
  const { key, id, thread, inbox, isFollowed } = call;
  const isWatched = context.wants('TOOL-SUB');
  if (isWatched || isFollowed) await seeEvents(context, call);
  if (signal.aborted) return;
  if (!inbox.callbacks.some(isFinal)) {
    wire.log.emit({ kind: 'decided', what: 'cancel', by: 'policy', calls: [key] });
    await cancelToolCall(wire, base, { key, thread, id }, noticeOptions(context));
  }
  if (isWatched) await seeNothing(context, call);
}

async function seeEvents(context: ProbeContext, { inbox, isFollowed }: Conversing): Promise<void> {
  const { windowMs } = context;
  const firstMs = Math.min(FIRST_EVENT_MS, windowMs);
  const [ms, isEnough] = isFollowed
    ? [
        Math.max(firstMs, windowMs * FOLLOWED_FOR),
        (callbacks: readonly ReceivedCallback[]) => callbacks.some(isFinal),
      ]
    : [firstMs, hasReceived('subscription_event')];
  await arrivedWithin(context, ms, inbox.until(isEnough));
}

/** One that comes may have been on its way: then it is seen whether another one does. */
async function seeNothing(context: ProbeContext, { key, inbox }: Conversing): Promise<void> {
  const { wire, signal, windowMs } = context;
  const quietMs = Math.min(QUIET_MS, windowMs);
  const before = inbox.callbacks.length;
  await pause(context, quietMs);
  const isQuiet = inbox.callbacks.length === before;
  if (!isQuiet) await pause(context, quietMs);
  const afterMs = isQuiet ? quietMs : 2 * quietMs;
  if (!signal.aborted) wire.log.emit({ kind: 'expired', what: 'observation', afterMs, calls: [key] });
}

function isFinal({ message }: ReceivedCallback): boolean {
  return message?.type === 'subscription_event' && message.final === true;
}

/** Goes along with what a tool wants, within bounds: it may ask forever. */
const MOST_QUESTIONS = 3;

const FLOWS: readonly Flow[] = [choose, consent, leaveSubscription];

/** Answers what a call's tool asks, as it comes. Returns how to wait for what was begun. */
function goAlong(context: ProbeContext, call: Conversing): () => Promise<void> {
  const begun: Promise<void>[] = [];
  call.inbox.subscribe(callback => {
    if (!isNews(callback, call.inbox)) return;
    for (const flow of FLOWS) {
      const under = begun.length < MOST_QUESTIONS ? flow(context, call, callback) : undefined;
      if (under) begun.push(under);
    }
  });
  return async () => void (await Promise.all(begun));
}

/** What was not taken comes again, and what was taken may. */
function isNews(callback: ReceivedCallback, { callbacks }: Inbox): boolean {
  const before = callbacks.find(({ sha256, isTaken }) => isTaken && sha256 === callback.sha256);
  return before === callback;
}

/** What is sent: a valid call, and how it is to differ from one. */
export interface ProbeCall {
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** In place of a valid invocation's fields, or beside them; undefined leaves one out. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** The callback URL, written in another way. */
  readonly addressed?: (url: string) => string;
  /** The body, in place of the invocation. */
  readonly body?: (invocation: Readonly<Record<string, unknown>>) => string;
  /** Whether to follow its subscription to the end; default: leave after the first event. */
  readonly isFollowed?: boolean;
  /** How to answer its callbacks; default 200. */
  readonly answers?: readonly Answering[];
}

/** A call that was made. */
export interface SentCall {
  readonly key: string;
  readonly id: string;
  readonly thread: string;
  readonly inbox: Inbox;
  /** Resolves once its invocation is answered, or is not. */
  readonly acknowledged: Promise<void>;
  /** Resolves once its conversation is over, as far as that is ours. */
  readonly converse: () => Promise<void>;
}

/** Sends an invocation, once, and goes along with what its tool says. */
function startCall(context: ProbeContext, key: string, probeCall: ProbeCall): SentCall {
  const {
    answers = [200],
    addressed = url => url,
    body = JSON.stringify,
    fields,
    isFollowed = false,
  } = probeCall;
  const { id, thread, invocation } = invocationOf(probeCall);
  const { promise: acknowledged, resolve } = deferred<void>();
  const { url, inbox } = context.listener.open({ key, thread, answers, acknowledged });
  const call = { key, id, thread, inbox, acknowledged };
  const converse = goAlong(context, { ...call, isFollowed });
  context.threads.add(thread);
  resolve(post(context, call, body({ ...invocation, callback_url: addressed(url), ...fields })));
  return { ...call, converse };
}

/** Its ids are those that are sent, where they are any. */
function invocationOf({ operation, arguments: args, fields = {} }: ProbeCall) {
  const id = textOr(fields['id'], `call_${randomUUID()}`);
  const thread = textOr(fields['group_id'], `thread_${randomUUID()}`);
  const call_id = `model_${randomUUID()}`;
  return { id, thread, invocation: { operation, arguments: args, id, call_id, group_id: thread } };
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

/** However it ends, that is in the log. */
async function post(
  { wire, endpoint, answerMs, signal }: ProbeContext,
  { key, thread }: Pick<SentCall, 'key' | 'thread'>,
  body: string,
): Promise<void> {
  const about: About = { purpose: 'invocation', attempt: 1, calls: [key], thread };
  try {
    await send(wire, about, {
      method: 'POST',
      url: endpoint,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(body),
      read: readAcknowledgement,
      signal,
      timeoutMs: answerMs,
    });
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
  }
}

/** Makes the calls of one plan. */
export interface ProbeClient {
  send(probeCall: ProbeCall): SentCall;
  /** Waits for the result and the conversation; records an expiry if no result came in time. */
  finish(call: SentCall): Promise<void>;
  /** Sends, and waits until that is finished. */
  call(probeCall: ProbeCall): Promise<SentCall>;
  /** Waits at most `ms` (default: the window) for callbacks; records an expiry and returns false if they do not come. */
  sees(
    call: SentCall,
    isEnough: (callbacks: readonly ReceivedCallback[]) => boolean,
    ms?: number,
  ): Promise<boolean>;
}

/** Calls are named by their plan, and counted: the same in each run. */
export function clientFor(context: ProbeContext, plan: Plan): ProbeClient {
  let count = 0;
  const { wire, signal } = context;
  const client: ProbeClient = {
    send(probeCall) {
      const key = `${plan.id} ${++count}`;
      recordPlan(wire, plan, [key]);
      return startCall(context, key, probeCall);
    },
    async finish(call) {
      await client.sees(call, hasReceived('tool_result'));
      await Promise.all([call.acknowledged, call.converse()]);
    },
    async call(probeCall) {
      const call = client.send(probeCall);
      await client.finish(call);
      return call;
    },
    async sees({ key, inbox }, isEnough, ms = context.windowMs) {
      const isSeen = await arrivedWithin(context, ms, inbox.until(isEnough));
      if (!isSeen && !signal.aborted)
        wire.log.emit({ kind: 'expired', what: 'observation', afterMs: ms, calls: [key] });
      return isSeen;
    },
  };
  return client;
}

/** Works on all of them, so many at a time, in their order. */
export async function concurrently<T>(
  all: readonly T[],
  concurrency: number,
  work: (one: T) => Promise<unknown>,
): Promise<void> {
  const waiting = all.values();
  const worker = async () => {
    for (const one of waiting) await work(one);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
