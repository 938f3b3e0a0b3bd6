import type { Fact, NearestFixture } from '../events/events.js';
import type { AckFault, CallbackFault } from '../fixtures/file-schema.js';
import { bytesText } from '../util/text.js';
import { isRecord } from '../util/values.js';
import { CANCELED, type Conversation, THREAD_CLOSED } from './conversation.js';

/** How one call is answered; decided in the order in which calls arrive. */
export interface Plan {
  readonly facts: readonly Fact[];
  readonly ack: AckFault | null;
  /** Returns the faults of the n-th callback, from 0. */
  readonly faultsOf: (callback: number) => readonly CallbackFault[];
  /** Answers the call. An error that it throws becomes an error result. */
  readonly perform: (conversation: Conversation) => Promise<unknown>;
  /** Whether messages may follow after `perform`: events of a subscription. */
  readonly isOpenEnded?: boolean;
  readonly redact?: (message: string) => string;
}

const NONE: readonly CallbackFault[] = [];

const NO_FAULTS = () => NONE;

export function planWithoutFaults(facts: readonly Fact[], perform: Plan['perform']): Plan {
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
const OPEN_CALL_LIMITS = { calls: 50_000, bytes: 32 * 1024 * 1024 };

/** The open calls. Runtimes cancel them by id or thread (TOOL-CANCEL, TOOL-CLOSE). */
export class OpenCalls {
  readonly #open = new Map<Conversation, number>();
  /** Calls whose work is done but events may follow. */
  readonly #resting = new Set<Conversation>();
  #bytes = 0;
  readonly #onIdle: (() => void)[] = [];

  constructor(private readonly limits = OPEN_CALL_LIMITS) {}

  /** Returns why no invocation of this size can be accepted, or null. Called before it is parsed, which may take a second. */
  problem({ length }: Uint8Array): string | null {
    const { bytes } = this.limits;
    const hasRoom = this.#bytes === 0 || this.#bytes + length <= bytes;
    return hasRoom ? null : `the open calls are too large: more than ${bytesText(bytes)}`;
  }

  /** Opens a call. Returns why it cannot be accepted, or null. */
  admit(conversation: Conversation, { length }: Uint8Array): string | null {
    const { calls } = this.limits;
    if (this.#open.size >= calls) return `too many open calls: ${calls}`;
    this.#open.set(conversation, length);
    this.#bytes += length;
    return null;
  }

  end(conversation: Conversation): void {
    this.#bytes -= this.#open.get(conversation) ?? 0;
    this.#open.delete(conversation);
    this.#resting.delete(conversation);
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
    const isMeant = ({ caller: { addressee } }: Conversation) =>
      (id ?? addressee.id) === addressee.id && (thread ?? addressee.group_id) === addressee.group_id;
    return this.#all.filter(isMeant).filter(conversation => conversation.fire()).length;
  }

  idle(): Promise<void> {
    return this.#open.size === 0 ? Promise.resolve() : new Promise(resolve => this.#onIdle.push(resolve));
  }

  /**
   * Answers a call after its acknowledgement, as planned (TOOL-ASYNC); the call stays open for cancellation while events may follow.
   * Never rejects: an error becomes the message of a result (TOOL-ALWAYS), without a stack, a path (TOOL-NOLEAK) or secrets
   * (TOOL-SECRET).
   */
  async carryOut(
    plan: Pick<Plan, 'perform' | 'redact' | 'isOpenEnded'>,
    conversation: Conversation,
  ): Promise<void> {
    try {
      await plan.perform(conversation);
      if (!conversation.isAnswered) await conclude(conversation);
      if (!plan.isOpenEnded && conversation.isSubscribed) conversation.warn(NO_LAST_EVENT);
    } catch (error) {
      await fail(conversation, redacted(messageOf(error), plan));
    }
    if (plan.isOpenEnded && conversation.isSubscribed && !conversation.isClosed) {
      this.end(conversation); // does not delay shutdown
      this.#resting.add(conversation);
      await conversation.subscriptionEnded();
    }
    conversation.close();
    this.end(conversation);
  }

  /** A call of any weight is accepted if no other of its class is open. */

  get #all(): Conversation[] {
    return [...this.#open.keys(), ...this.#resting];
  }

  #cancel(why: string, isMeant: (conversation: Conversation) => boolean): void {
    for (const conversation of this.#all) if (isMeant(conversation)) conversation.cancel(why);
  }
}

const NO_LAST_EVENT =
  'the reply ended without a final event; the subscription stays open until it is canceled';

function conclude(conversation: Conversation): Promise<unknown> {
  if (conversation.isCanceled) return conversation.canceled();
  return conversation.outcome({ type: 'error', message: 'the tool ended without a result' });
}

async function fail(conversation: Conversation, message: string): Promise<void> {
  conversation.warn(`the call failed: ${message}`);
  if (conversation.isCanceled) await conversation.canceled();
  else if (!conversation.isAnswered)
    await conversation.outcome({ type: 'error', message: withoutPaths(message) });
}

/** Redacts a message; withholds it if redaction fails. */
function redacted(message: string, { redact }: Pick<Plan, 'redact'>): string {
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
