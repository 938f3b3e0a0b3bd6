import type { Fact, NearestFixture } from '../events/events.js';
import type { AckFault, CallbackFault } from '../fixtures/file-schema.js';
import { LIMITS } from '../util/limits.js';
import { bytesText } from '../util/text.js';
import { isRecord } from '../util/values.js';
import type { Conversation } from './conversation.js';
import { CANCELED, type OpenCall, THREAD_CLOSED } from './open-call.js';

/** Returns the faults of the n-th callback of a call, from 0. */
export type FaultsOf = (callback: number) => readonly CallbackFault[];

/** Answers a call. An error that it throws becomes an error result. */
export type Perform = (conversation: Conversation) => Promise<unknown>;

/** How one call is answered; decided in the order in which calls arrive. */
export interface Plan {
  readonly facts: readonly Fact[];
  readonly ack: AckFault | null;
  readonly faultsOf: FaultsOf;
  readonly perform: Perform;
  /** Whether messages may follow after `perform`: events of a subscription. */
  readonly isOpenEnded?: boolean;
  readonly redact?: (message: string) => string;
}

const NONE: readonly CallbackFault[] = [];

const NO_FAULTS = () => NONE;

export function planWithoutFaults(facts: readonly Fact[], perform: Perform): Plan {
  return { ack: null, faultsOf: NO_FAULTS, facts, perform };
}

/** Plans an error result for a call that nothing answers (TOOL-ALWAYS, TOOL-ERRPREFIX). */
export function refusalPlan(message: string, nearest?: NearestFixture): Plan {
  const unmatched: Fact = { kind: 'matched', fixture: null, ...(nearest && { nearest }) };
  return planWithoutFaults([{ kind: 'warned', message }, unmatched], conversation =>
    conversation.outcome({ type: 'error', message }),
  );
}

export function malformedRefusal(what: 'call' | 'invocation', faults: readonly string[]): Plan {
  return refusalPlan(`the ${what} is malformed: ${faults.join('; ')}. Correct it and call again.`);
}

/** Limits for open calls, because a call may stay open for hours: their number, and the bytes of their invocations. */
const OPEN_CALLS = { calls: LIMITS.openCalls.value, bytes: LIMITS.openCallBytes.value };

/** The open calls. Runtimes cancel them by id or thread (TOOL-CANCEL, TOOL-CLOSE). */
export class OpenCalls {
  readonly #open = new Map<OpenCall, number>();
  /** Calls whose work is done but events may follow. */
  readonly #resting = new Set<OpenCall>();
  #bytes = 0;
  readonly #onIdle: (() => void)[] = [];

  constructor(private readonly limits = OPEN_CALLS) {}

  /** Returns why no invocation of this size can be accepted, or null. Called before it is parsed, which may take a second. */
  problem({ length }: Uint8Array): string | null {
    const { bytes } = this.limits;
    const hasRoom = this.#bytes === 0 || this.#bytes + length <= bytes;
    return hasRoom ? null : `the open calls are too large: more than ${bytesText(bytes)}`;
  }

  /** Opens a call. Returns why it cannot be accepted, or null. */
  admit(call: OpenCall, { length }: Uint8Array): string | null {
    const { calls } = this.limits;
    if (this.#open.size >= calls) return `too many open calls: ${calls}`;
    this.#open.set(call, length);
    this.#bytes += length;
    return null;
  }

  end(call: OpenCall): void {
    this.#bytes -= this.#open.get(call) ?? 0;
    this.#open.delete(call);
    this.#resting.delete(call);
    if (this.#open.size === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  /** Unknown and finished calls are ignored. */
  cancel(key: string): void {
    this.#cancel(CANCELED, ({ about }) => about.calls[0] === key);
  }

  closeThread(thread: string): void {
    this.#cancel(THREAD_CLOSED, ({ about }) => about.thread === thread);
  }

  stop(): void {
    this.#cancel('the tool is stopping', () => true);
  }

  /**
   * Fires the triggers of the calls with this id in this thread; without an id of all calls, without a thread in all threads. Returns
   * how many.
   */
  fire(id?: string, thread?: string): number {
    const isMeant = ({ caller: { addressee } }: OpenCall) =>
      (id ?? addressee.id) === addressee.id && (thread ?? addressee.group_id) === addressee.group_id;
    return this.#all.filter(isMeant).filter(call => call.fire()).length;
  }

  idle(): Promise<void> {
    return this.#open.size === 0 ? Promise.resolve() : new Promise(resolve => this.#onIdle.push(resolve));
  }

  /**
   * Answers a call after its acknowledgement, as planned (TOOL-ASYNC); the call stays open for cancellation while events may follow.
   * Never rejects: an error becomes the message of a result (TOOL-ALWAYS), without a stack, a path (TOOL-NOLEAK) or secrets
   * (TOOL-SECRET).
   */
  async carryOut(plan: Plan, conversation: Conversation): Promise<void> {
    const { call } = conversation;
    try {
      await plan.perform(conversation);
      if (!conversation.isAnswered) await conclude(conversation);
      if (!plan.isOpenEnded && conversation.isSubscribed) call.warn(NO_LAST_EVENT);
    } catch (error) {
      await fail(conversation, redacted(messageOf(error), plan));
    }
    if (plan.isOpenEnded && conversation.isSubscribed && !call.isClosed) {
      this.end(call); // does not delay shutdown
      this.#resting.add(call);
      await conversation.subscriptionEnded();
    }
    call.close();
    this.end(call);
  }

  get #all(): OpenCall[] {
    return [...this.#open.keys(), ...this.#resting];
  }

  #cancel(why: string, isMeant: (call: OpenCall) => boolean): void {
    for (const call of this.#all) if (isMeant(call)) call.cancel(why);
  }
}

const NO_LAST_EVENT = 'no final event was sent; the subscription stays open until it is canceled';

function conclude(conversation: Conversation): Promise<unknown> {
  if (conversation.call.isCanceled) return conversation.canceled();
  return conversation.outcome({ type: 'error', message: 'the tool ended without a result' });
}

async function fail(conversation: Conversation, message: string): Promise<void> {
  const { call } = conversation;
  call.warn(`the call failed: ${message}`);
  if (call.isCanceled) await conversation.canceled();
  else if (!conversation.isAnswered)
    await conversation.outcome({ type: 'error', message: withoutPaths(message) });
}

/** Redacts a message; withholds it if redaction fails. */
function redacted(message: string, { redact }: Plan): string {
  try {
    return redact ? redact(message) : message;
  } catch {
    return TOOL_FAILED;
  }
}

const TOOL_FAILED = 'the tool failed';

function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  if (isRecord(error) && typeof error['message'] === 'string') return error['message'];
  return typeof error === 'object' || typeof error === 'function' ? TOOL_FAILED : String(error);
}

const QUOTED_PATH = /(['"`])(?:file:\/\/|[a-z]:)?[\\/][^'"`\n]*[\\/]([^'"`\\/\n]*)\1/gi;

const BARE_PATH = /(?<![\w:/\\\].-])(?:file:\/\/|[a-z]:)?[\\/][^\s'"`<>|,;()]*[\\/]([^\s'"`<>|,;()\\/]*)/gi;

/** Replaces the folders of absolute paths by `…`, since they reveal details of the machine. */
function withoutPaths(message: string): string {
  return message.replace(QUOTED_PATH, '$1…/$2$1').replace(BARE_PATH, '…/$1');
}
