import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Book } from '../../events/call-log.js';
import { canBeGivenUp, type Exchange } from '../../events/exchange.js';
import type { Log } from '../../events/log.js';
import type { SchemaFault } from '../../json-schema/validate.js';
import type { Invocation } from '../../protocol/read-invocation.js';
import { type ArgumentsCheck, judgeArguments } from '../../runtime/check-call.js';
import { closeThread, giveUp } from '../../runtime/notices.js';
import { rulingOn } from '../../runtime/policy.js';
import type { Answering, Runtime } from '../../runtime/runtime.js';
import type { Clock } from '../../system/drafts.js';
import type { Draft, RunOptions, Said, Sent } from '../../tui/workbench/model.js';
import { ProtocolCliError } from '../../util/errors.js';
import type { Redactor } from '../../util/redact.js';
import type { Denial } from '../invoke/questions.js';
import type { Answers, Found } from './server-connection.js';
import type { Ledger, Manners, Offer, Shelf } from './servers.js';

/** A draft as a call of its own, in the thread of all calls, or in a fresh one where none was named (RT-ID). */
function callOf(
  { operation, arguments: args }: Draft,
  { groupId, userId, ancestors }: Pick<Manners, 'groupId' | 'userId' | 'ancestors'>,
): Omit<Invocation, 'callback_url'> {
  return {
    operation,
    arguments: { ...args },
    id: `call_${randomUUID()}`,
    call_id: null,
    group_id: groupId ?? `thread_${randomUUID()}`,
    ...(ancestors.length > 0 && { thread_ancestors: [...ancestors] }),
    ...(userId !== null && { user_id: userId }),
  };
}

export function done(text: string): Said {
  return { text, isBad: false };
}

export function failed(text: string): Said {
  return { text, isBad: true };
}

/** What a failure says, with what to do next, in a line. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const hint = error instanceof ProtocolCliError ? error.hint : undefined;
  return hint === undefined ? error.message : `${error.message}. ${hint}`;
}

/** A doing that says what came of it, also where it fails. */
export async function saying(work: () => Promise<Said>): Promise<Said> {
  try {
    return await work();
  } catch (error) {
    return failed(reasonOf(error));
  }
}

/** Where calls are shown. */
interface Scene {
  readonly log: Log;
  readonly book: Book;
  readonly clock: Clock;
}

/**
 * Starts a call. Resolves when its first event is in the log.
 * @throws ProtocolCliError where it cannot be sent.
 */
export async function dial(
  { log }: Pick<Scene, 'log'>,
  runtime: Runtime,
  { wire, discovered }: Found,
  invocation: Invocation,
  { timeoutMs, retries, lenientAck }: Manners,
  answering: Answering,
): Promise<void> {
  const { endpoint } = discovered.toolset;
  const call = { endpoint, invocation, timeoutMs, retries, lenientAck };
  const calls = [invocation.id];
  const begun = beginning(log, invocation.id);
  const over = runtime.invoke(wire, call, answering);
  await Promise.race([begun.made, over]).finally(begun.forget);
  over.catch(error => log.emit({ kind: 'warned', message: reasonOf(error), calls }));
}

/** Resolves once the call is a fact. */
function beginning(log: Log, key: string) {
  let forget = () => {};
  const made = new Promise<void>(resolve => {
    forget = log.subscribe(event => event.kind === 'request' && event.calls?.includes(key) && resolve());
  });
  return { made, forget };
}

/** Whoever quits does not wait longer than this, in ms, for tools to hear of it. */
const FAREWELL_MS = 2_000;
/** Notices that may be sent at the end. */
const SIDE_BY_SIDE = 64;

/** What is left behind. */
interface Left {
  readonly calls: readonly { readonly exchange: Exchange; readonly at: Found }[];
  /** Of our own making. */
  readonly threads: readonly string[];
  /** Each hears of each thread that is over (RT-NOTIFY). */
  readonly servers: readonly Found[];
}

/** Cancels the running calls, then closes the threads. Never rejects; does not wait long for answers. */
async function bidFarewell({ calls, threads, servers }: Left, clock: Clock): Promise<void> {
  const parting = new AbortController();
  const { signal } = parting;
  setMaxListeners(0, signal); // each notice listens to it
  const stopWaiting = clock.after(FAREWELL_MS, () => parting.abort());
  await sideBySide(
    calls.filter(({ exchange }) => canBeGivenUp(exchange)),
    ({ exchange, at: { wire, discovered } }) => giveUp(wire, discovered.base, exchange, 'person', { signal }),
  );
  const notices = threads.flatMap(thread => servers.map(server => ({ thread, ...server })));
  await sideBySide(notices, async ({ thread, wire, discovered }) => {
    if (!signal.aborted) await closeThread(wire, discovered.base, thread, { signal });
  });
  stopWaiting();
}

async function sideBySide<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker));
}

/** One listener for the callbacks of all calls, opened for the first: nothing else needs it, and it takes its time to load. */
class Switchboard {
  #runtime: Promise<Runtime> | null = null;
  #isOver = false;

  constructor(
    private readonly scene: Scene,
    private readonly manners: Pick<Manners, 'listener'>,
  ) {}

  /** Asked again, it is tried again where it failed. @throws Error once all is over; as {@link Runtime.start}. */
  async open(): Promise<Runtime> {
    this.#runtime ??= this.#start().catch(error => {
      this.#runtime = null;
      throw error;
    });
    const runtime = await this.#runtime;
    this.#refuseIfOver();
    return runtime;
  }

  /** Nobody is connected from now on. */
  end(): void {
    this.#isOver = true;
  }

  async close(): Promise<void> {
    this.end();
    const runtime = await this.#runtime?.catch(() => null);
    await runtime?.close();
  }

  async #start(): Promise<Runtime> {
    this.#refuseIfOver();
    const { log, book, clock } = this.scene;
    const { Runtime } = await import('../../runtime/runtime.js');
    this.#refuseIfOver();
    return Runtime.start({ log, history: book.history, clock, listener: this.manners.listener });
  }

  #refuseIfOver(): void {
    if (this.#isOver) throw new Error('the workbench is being closed');
  }
}

const UNJUDGED: ArgumentsCheck = { faults: [], warnings: [] };
const NOT_AGREED = 'it is marked destructive and was not confirmed';

/** What calls are made with. */
interface Phone extends Scene {
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

  /** Checks the policy, then the arguments (RT-ARGS), and starts the call; nothing is sent after the end. Never rejects. */
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

  /** Errors of a draft against its `inputSchema` (RT-ARGS); empty without a schema. */
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
