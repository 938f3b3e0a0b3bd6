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
  came,
  cameBy,
  isSubscription,
  type Letter,
  type Mailbox,
  type Patience,
  type ProbeListener,
  pause,
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
export interface Desk extends Patience {
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
export function patienceOf({ answerMs: timeoutMs, signal }: Desk): Pick<Delivery, 'timeoutMs' | 'signal'> {
  return { timeoutMs, signal };
}

/** What is meant to be seen, as the log is told it. */
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
  readonly mailbox: Mailbox;
  /** Whether a subscription is followed to its end. */
  readonly isFollowed: boolean;
}

/** Takes part in what a tool begins with a letter; undefined where that is nothing to it. */
type Flow = (desk: Desk, call: Conversing, letter: Letter) => Promise<void> | undefined;

/** A question has its default selected, as a dismissed prompt does (TOOL-CHOICE). */
function choose(
  desk: Desk,
  { key, thread }: Conversing,
  { leg, message }: Letter,
): Promise<void> | undefined {
  if (message?.type !== 'user_choice') return undefined;
  const { log } = desk.wire;
  const { response_url: url, default: selected, id } = message;
  if (!isNear(url, desk)) {
    log.emit({
      kind: 'warned',
      calls: [key],
      message: 'no selection was sent: response_url has a different host than the tool',
    });
    return undefined;
  }
  log.emit({ kind: 'decided', what: 'choice', by: 'policy', value: selected, question: leg, calls: [key] });
  return respondToChoice(desk.wire, url, { key, thread, signal: desk.signal }, { id, selected }).then(
    () => {},
  );
}

/** A check posts to the tool, and to no third party that it names: on this machine only where the tool is, too (threats, row 9). */
export function isNear(url: string, { base, endpoint }: Pick<Desk, 'base' | 'endpoint'>): boolean {
  const there = readUrl(url);
  if (!there) return false;
  const isLocal = isLoopback(there.hostname);
  if (isLocal) return isLoopback(readUrl(base)?.hostname ?? '');
  return [base, endpoint].some(own => readUrl(own)?.host === there.host);
}

/** A person is shown where to go; the call's own window is the time there is (TOOL-OAUTH). */
function consent({ onConsent }: Desk, _: Conversing, { message }: Letter): undefined {
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
function leaveSubscription(desk: Desk, call: Conversing, letter: Letter): Promise<void> | undefined {
  return isSubscription(letter) ? leave(desk, call) : undefined;
}

async function leave(desk: Desk, call: Conversing): Promise<void> {
  const { wire, base, signal } = desk;
  const { key, id, thread, mailbox, isFollowed } = call;
  const isWatched = desk.wants('TOOL-SUB');
  if (isWatched || isFollowed) await seeEvents(desk, call);
  if (signal.aborted) return;
  if (!mailbox.letters.some(isFinal)) {
    wire.log.emit({ kind: 'decided', what: 'cancel', by: 'policy', calls: [key] });
    await cancelToolCall(wire, base, { key, thread, id }, patienceOf(desk));
  }
  if (isWatched) await seeNothing(desk, call);
}

async function seeEvents(desk: Desk, { mailbox, isFollowed }: Conversing): Promise<void> {
  const { windowMs } = desk;
  const firstMs = Math.min(FIRST_EVENT_MS, windowMs);
  const [ms, isEnough] = isFollowed
    ? [Math.max(firstMs, windowMs * FOLLOWED_FOR), (letters: readonly Letter[]) => letters.some(isFinal)]
    : [firstMs, came('subscription_event')];
  await cameBy(desk, ms, mailbox.until(isEnough));
}

/** One that comes may have been on its way: then it is seen whether another one does. */
async function seeNothing(desk: Desk, { key, mailbox }: Conversing): Promise<void> {
  const { wire, signal, windowMs } = desk;
  const quietMs = Math.min(QUIET_MS, windowMs);
  const before = mailbox.letters.length;
  await pause(desk, quietMs);
  const isQuiet = mailbox.letters.length === before;
  if (!isQuiet) await pause(desk, quietMs);
  const afterMs = isQuiet ? quietMs : 2 * quietMs;
  if (!signal.aborted) wire.log.emit({ kind: 'expired', what: 'observation', afterMs, calls: [key] });
}

function isFinal({ message }: Letter): boolean {
  return message?.type === 'subscription_event' && message.final === true;
}

/** Goes along with what a tool wants, within bounds: it may ask forever. */
const MOST_QUESTIONS = 3;

const FLOWS: readonly Flow[] = [choose, consent, leaveSubscription];

/** Answers what a call's tool asks, as it comes. Returns how to wait for what was begun. */
function goAlong(desk: Desk, call: Conversing): () => Promise<void> {
  const begun: Promise<void>[] = [];
  call.mailbox.subscribe(letter => {
    if (!isNews(letter, call.mailbox)) return;
    for (const flow of FLOWS) {
      const under = begun.length < MOST_QUESTIONS ? flow(desk, call, letter) : undefined;
      if (under) begun.push(under);
    }
  });
  return async () => void (await Promise.all(begun));
}

/** What was not taken comes again, and what was taken may. */
function isNews(letter: Letter, { letters }: Mailbox): boolean {
  const before = letters.find(({ sha256, isTaken }) => isTaken && sha256 === letter.sha256);
  return before === letter;
}

/** What is sent: a valid call, and how it is to differ from one. */
export interface Stimulus {
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** In place of a valid invocation's fields, or beside them; undefined leaves one out. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** The callback URL, written in another way. */
  readonly addressed?: (url: string) => string;
  /** The body, in place of the invocation. */
  readonly body?: (invocation: Readonly<Record<string, unknown>>) => string;
  /** Whether a subscription that it starts is followed to its end; left after its first event unless told. */
  readonly isFollowed?: boolean;
  /** What its callbacks are answered; 200 unless told. */
  readonly answers?: readonly Answering[];
}

/** A call that was made. */
export interface Probed {
  readonly key: string;
  readonly id: string;
  readonly thread: string;
  readonly mailbox: Mailbox;
  /** Resolves once its invocation is answered, or is not. */
  readonly acknowledged: Promise<void>;
  /** Resolves once its conversation is over, as far as that is ours. */
  readonly converse: () => Promise<void>;
}

/** Sends an invocation, once, and goes along with what its tool says. */
function startCall(desk: Desk, key: string, stimulus: Stimulus): Probed {
  const {
    answers = [200],
    addressed = url => url,
    body = JSON.stringify,
    fields,
    isFollowed = false,
  } = stimulus;
  const { id, thread, invocation } = invocationOf(stimulus);
  const { promise: acknowledged, resolve } = deferred<void>();
  const { url, mailbox } = desk.listener.open({ key, thread, answers, acknowledged });
  const call = { key, id, thread, mailbox, acknowledged };
  const converse = goAlong(desk, { ...call, isFollowed });
  desk.threads.add(thread);
  resolve(post(desk, call, body({ ...invocation, callback_url: addressed(url), ...fields })));
  return { ...call, converse };
}

/** Its ids are those that are sent, where they are any. */
function invocationOf({ operation, arguments: args, fields = {} }: Stimulus) {
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
  { wire, endpoint, answerMs, signal }: Desk,
  { key, thread }: Pick<Probed, 'key' | 'thread'>,
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
export interface Prober {
  send(stimulus: Stimulus): Probed;
  /** Waits for a call's result, and the end of its conversation; that none came in time is told. */
  finish(call: Probed): Promise<void>;
  /** Sends, and waits until that is finished. */
  call(stimulus: Stimulus): Promise<Probed>;
  /** Waits for what is to come for a call, `ms` at most, the window unless told. False where it did not, which is told. */
  sees(call: Probed, isEnough: (letters: readonly Letter[]) => boolean, ms?: number): Promise<boolean>;
}

/** Calls are named by their plan, and counted: the same in each run. */
export function proberFor(desk: Desk, plan: Plan): Prober {
  let count = 0;
  const { wire, signal } = desk;
  const prober: Prober = {
    send(stimulus) {
      const key = `${plan.id} ${++count}`;
      recordPlan(wire, plan, [key]);
      return startCall(desk, key, stimulus);
    },
    async finish(call) {
      await prober.sees(call, came('tool_result'));
      await Promise.all([call.acknowledged, call.converse()]);
    },
    async call(stimulus) {
      const call = prober.send(stimulus);
      await prober.finish(call);
      return call;
    },
    async sees({ key, mailbox }, isEnough, ms = desk.windowMs) {
      const isSeen = await cameBy(desk, ms, mailbox.until(isEnough));
      if (!isSeen && !signal.aborted)
        wire.log.emit({ kind: 'expired', what: 'observation', afterMs: ms, calls: [key] });
      return isSeen;
    },
  };
  return prober;
}

/** Works on all of them, so many at a time, in their order. */
export async function inLanes<T>(
  all: readonly T[],
  lanes: number,
  work: (one: T) => Promise<unknown>,
): Promise<void> {
  const waiting = all.values();
  const lane = async () => {
    for (const one of waiting) await work(one);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
