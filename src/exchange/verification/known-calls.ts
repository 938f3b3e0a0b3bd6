import { RecentMap } from '../../text/recent-map.js';
import type { Content } from '../content.js';
import { type Caller, callerOf, NOBODY } from './caller.js';
import type { UnmatchedFinding } from './unmatched-finding.js';

const REMEMBERED = 4_096;
/** Bytes of a call that are worth reading it for, to keep what it says instead of them. */
const LARGE = 4_096;

/** One call, as far as verification follows it. */
export class KnownCall {
  /** Undefined until it is decided; null where none answers. */
  fixture: string | null | undefined;
  /** Where none does: what is told of it. */
  unmatched: UnmatchedFinding | undefined;
  /** Nothing is owed any more. */
  isOver = false;
  /** The invocation was not accepted: it may come again. */
  isRefused = false;
  /** Whatever happens to its callbacks is as it was meant to be. */
  isExcused = false;
  /** Callbacks that were sent twice on purpose: one of each may be lost. */
  spare = 0;
  /** Which callback was broken on purpose, so that it may be lost: the one that comes next, or the one that was sent last. */
  spared: 'none' | 'next' | 'current' = 'none';
  /** The callback that was sent last and not yet taken. */
  sent: Content | undefined;
  #invocation: Content | undefined;
  #caller: Caller | undefined;

  constructor(
    public thread: string | undefined,
    invocation: Content | undefined,
  ) {
    this.#invocation = invocation;
  }

  get caller(): Caller {
    this.#caller ??= this.#invocation ? callerOf(this.#invocation) : NOBODY;
    return this.#caller;
  }

  /** Bytes that are held on to. */
  get size(): number {
    return (this.#invocation?.size ?? 0) + (this.sent?.size ?? 0);
  }

  /** Keeps who called, and lets go of the bytes. Of no thread any more: nothing is owed. */
  slim(): void {
    this.#caller = this.caller;
    this.thread = undefined;
    this.#invocation = undefined;
    this.sent = undefined;
  }
}

/** The calls that are not over, and the last of those that are: a repeat, or an event that is lost, may still follow. */
export class KnownCalls {
  readonly #open = new Map<string, KnownCall>();
  readonly #over = new RecentMap<string, KnownCall>(REMEMBERED);

  get(key: string): KnownCall | undefined {
    return this.#open.get(key) ?? this.#over.get(key);
  }

  get open(): Iterable<KnownCall> {
    return this.#open.values();
  }

  begin(key: string, call: KnownCall): void {
    call.isOver = false;
    call.isRefused = false;
    this.#over.delete(key);
    this.#open.set(key, call);
  }

  end(key: string, call: KnownCall): void {
    call.isOver = true;
    if (!this.#open.delete(key)) return;
    if (call.size > LARGE) call.slim();
    this.#over.set(key, call);
  }

  endThread(thread: string | undefined, how: (call: KnownCall) => void): void {
    for (const [key, call] of this.#open)
      if (call.thread === thread) {
        how(call);
        this.end(key, call);
      }
  }
}
