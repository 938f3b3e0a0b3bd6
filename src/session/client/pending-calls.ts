import type { Answer, AnsweredCall } from '../../dialects/dialect.js';
import { isEqual } from '../../fixtures/pattern.js';
import { ACTIVE_STATE_CHANGE, isSettledStatus } from '../../protocol/session.js';
import { createRedactor } from '../../util/redact.js';
import { excerpt } from '../../util/text.js';
import { foreignWords, isRecord } from '../../util/values.js';
import type { Changes, PlatformClient } from './platform-client.js';

type Fields = Readonly<Record<string, unknown>>;

/** A call that an agent session waits for. */
export interface PendingCall {
  /** Call key in every event: its id, or `#1`, `#2` … if that is null; a reused id gets a number. */
  readonly key: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly id: string | null;
  /** The request as the platform sent it; the answer contains all of it (seed 001). */
  readonly native: Readonly<Record<string, unknown>>;
  /** Why the call cannot be passed to a tool. */
  readonly fault?: string;
}

/**
 * The pending calls of a session, from its events. The latest `ActiveStateChangeEvent` counts. When calls settle, the remaining ones
 * are published again and keep their keys (platforms). Invalid events never throw.
 */
export class PendingCalls {
  #calls: readonly PendingCall[] = [];
  readonly #usedKeys = new Set<string>();
  readonly #counts = new Map<string, number>();

  /** @param clean redacts everything that is not sent back to the platform */
  constructor(private readonly clean: (text: string) => string = text => text) {}

  get calls(): readonly PendingCall[] {
    return this.#calls;
  }

  /** @returns warnings about unreadable parts. */
  apply(event: unknown): readonly string[] {
    if (!isRecord(event) || event['type'] !== ACTIVE_STATE_CHANGE) return [];
    const { data } = event;
    if (!isRecord(data) || typeof data['state'] !== 'string')
      return [`an ${ACTIVE_STATE_CHANGE} has no state`];
    const { state } = data;
    const listed = data['pending_tool_calls'] ?? [];
    if (state === 'running' || isSettledStatus(state)) return this.#replace([]);
    if (!Array.isArray(listed)) return ['pending_tool_calls is not a list'];
    // Other states, such as paused, do not mean that no call is pending.
    return listed.length > 0 || state === 'awaiting_tool_results' ? this.#replace(listed) : [];
  }

  #replace(listed: readonly unknown[]): readonly string[] {
    const before = [...this.#calls];
    const calls: PendingCall[] = [];
    const warnings: string[] = [];
    for (const entry of listed) {
      const same = (call: PendingCall) => isRecord(entry) && isSameCall(call.native, entry);
      if (!isRecord(entry) || typeof entry['tool_name'] !== 'string') warnings.push(this.#unreadable(entry));
      else if (hasId(entry) && calls.some(same)) warnings.push(this.#twice(entry));
      else {
        const index = before.findIndex(same);
        const [known] = index < 0 ? [] : before.splice(index, 1);
        calls.push(known ?? this.#newCall(entry, entry['tool_name']));
      }
    }
    this.#calls = calls;
    return warnings;
  }

  #newCall(native: Fields, tool: string): PendingCall {
    const { args = {}, id = null } = native;
    return {
      key: this.#keyFor(native),
      tool,
      args: isRecord(args) ? args : {},
      id: typeof id === 'string' ? id : null,
      native,
      ...(!isRecord(args) && args !== null && { fault: 'the args of this call are not a JSON object' }),
    };
  }

  #keyFor(native: Fields): string {
    const name = hasId(native) && typeof native['id'] === 'string' ? this.clean(native['id']) : '';
    for (;;) {
      const count = (this.#counts.get(name) ?? 0) + 1;
      this.#counts.set(name, count);
      const key = name === '' ? `#${count}` : count === 1 ? name : `${name} (${count})`;
      if (this.#usedKeys.has(key)) continue;
      this.#usedKeys.add(key);
      return key;
    }
  }

  #unreadable(entry: unknown): string {
    const written = excerpt(this.clean(JSON.stringify(entry) ?? ''));
    return `a pending call has no tool_name and cannot be answered: ${written}`;
  }

  #twice({ id }: Fields): string {
    const written = excerpt(this.clean(foreignWords(id)));
    return `the id ${written} is pending twice: only the first of the two calls is answered`;
  }
}

/** Identifies a call by id; without an id by name and arguments (platforms). */
function isSameCall(a: Fields, b: Fields): boolean {
  if (hasId(a) || hasId(b)) return isEqual(a['id'], b['id']);
  return a['tool_name'] === b['tool_name'] && isEqual(a['args'] ?? {}, b['args'] ?? {});
}

function hasId({ id }: Fields): boolean {
  return id !== undefined && id !== null && id !== '';
}

/** Maximum number of pages per read: a platform may send new ones without end. */
const MAX_PAGES = 200;

/** The state of a session, as its platform reports it. */
export class SessionWatch {
  readonly #clean: (text: string) => string;
  readonly #calls: PendingCalls;
  #from = 0;
  #isEndless = false;
  #status = '';
  #latest: Changes | null = null;
  #reportedKeys = '';

  constructor(private readonly platform: PlatformClient) {
    this.#clean = createRedactor([platform.connection.key]).text;
    this.#calls = new PendingCalls(this.#clean);
  }

  get status(): string {
    return this.#status;
  }

  get isSettled(): boolean {
    return isSettledStatus(this.#status);
  }

  /** The platform's error, or null. */
  get error(): string | null {
    const error = this.#latest?.error ?? null;
    return error === null || typeof error === 'string' ? error : excerpt(this.#clean(JSON.stringify(error)));
  }

  /** The agent's final answer. */
  get answer(): unknown {
    return this.#latest?.answer;
  }

  get isAwaiting(): boolean {
    return this.#status === 'awaiting_tool_results';
  }

  /** The calls that the session waits for now. */
  get pending(): readonly PendingCall[] {
    return this.isAwaiting ? this.#calls.calls : [];
  }

  /** The calls published last, with any status: a pause does not withdraw them. */
  get listed(): readonly PendingCall[] {
    return this.isSettled ? [] : this.#calls.calls;
  }

  /** Whether there were more new events than one read returns. */
  get isEndless(): boolean {
    return this.#isEndless;
  }

  /**
   * Reads new events, waiting up to `waitSeconds` for them. Returns whether there were any.
   * @param signal aborted to stop reading
   * @throws ProtocolCliError see {@link PlatformClient.changes}.
   */
  async look(waitSeconds: number, signal?: AbortSignal): Promise<boolean> {
    const before = { from: this.#from, status: this.#status };
    await this.#readEvents(waitSeconds, signal);
    this.#status = await this.platform.status();
    if (this.isSettled && this.#latest?.status !== this.#status) {
      const ending = await this.platform.changes({ from: 0, waitSeconds: 0, withEvents: false });
      if (ending) this.#latest = ending;
    }
    if (this.#status !== before.status) this.#reportStatus();
    this.#reportPending();
    return this.#from > before.from || this.#status !== before.status;
  }

  /** Reads all pages: only the latest event counts, and it may be on the last page. */
  async #readEvents(waitSeconds: number, signal?: AbortSignal): Promise<void> {
    this.#isEndless = false;
    let changes = await this.platform.changes({ from: this.#from, waitSeconds }, signal);
    for (let pages = 1; changes && this.#take(changes); pages++) {
      this.#isEndless = pages >= MAX_PAGES;
      if (this.#isEndless) return;
      changes = await this.platform.changes({ from: this.#from, waitSeconds: 0 }, signal);
    }
  }

  /** Returns whether there were new events. */
  #take(changes: Changes): boolean {
    this.#latest = changes;
    const events = changes.new_events ?? [];
    this.#from += events.length;
    for (const event of events) for (const warning of this.#calls.apply(event)) this.platform.warn(warning);
    return events.length > 0;
  }

  #reportStatus(): void {
    const { log, thread } = this.platform.connection;
    const { status, error, answer } = this;
    const hasAnswer = answer !== undefined && answer !== null;
    const ending = { ...(error !== null && { error }), ...(hasAnswer && { answer }) };
    log.emit({ kind: 'session', thread, status, ...(this.isSettled && ending) });
  }

  #reportPending(): void {
    const pending = this.pending.map(({ key, tool, args, id }) => ({ key, tool_name: tool, args, id }));
    const calls = pending.map(({ key }) => key);
    const keys = JSON.stringify(calls);
    if (keys === this.#reportedKeys) return;
    this.#reportedKeys = keys;
    const { log, thread } = this.platform.connection;
    if (pending.length > 0) log.emit({ kind: 'awaiting', thread, calls, pending });
  }
}

export interface Answerer {
  /**
   * Answers a call. Calls that are pending together are passed concurrently. A thrown error becomes an `error_event` of the client.
   * @param context `signal` is aborted once the answer is not needed any more
   */
  answer(call: PendingCall, context: { readonly signal: AbortSignal }): Promise<Answer>;
}

/** Functions by tool name; each takes the arguments and returns the result. */
export type ToolFunctions = Readonly<
  Record<string, (args: PendingCall['args'], context: { readonly signal: AbortSignal }) => unknown>
>;

/** Creates an answerer from functions; all other tools are unknown. */
export function answerWith(functions: ToolFunctions): Answerer {
  return {
    async answer(call, context) {
      const work = Object.hasOwn(functions, call.tool) ? functions[call.tool] : undefined;
      if (!work) return unknownTool(call, Object.keys(functions));
      const payload = (await work(call.args, context)) ?? null; // this wire has no undefined (platforms)
      return { call: answeredCall(call), outcome: { type: 'success', basis: 'declared' }, payload };
    },
  };
}

/** The call in the common form; the answer contains the whole original (seed 001). */
export function answeredCall({ id, tool, args, native }: PendingCall): AnsweredCall {
  return { id, tool, args, request: native };
}

/** An error of the client: the tool was not called, or failed to answer. */
export function clientError(call: PendingCall, message: string): Answer {
  return {
    call: answeredCall(call),
    outcome: { type: 'error', message: message.toWellFormed(), origin: 'client', basis: 'ours' },
  };
}

export function unknownTool(call: PendingCall, available: readonly string[]): Answer {
  const names = available.length > 0 ? ` Available: ${available.join(', ')}.` : '';
  return clientError(call, `Unknown tool: ${call.tool}.${names}`);
}
