import type { Log } from '../../exchange/log.js';
import type { Caller } from './call.js';
import { CallingOff } from './calling-off.js';
import type { Demand, Demands } from './demands.js';
import type { Pauses } from './pauses.js';
import type { Question } from './questions.js';

export interface WaitsDesk {
  readonly log: Log;
  readonly pauses: Pauses;
  readonly demands: Demands;
}

interface Asking<Answer> {
  readonly what: 'choice' | 'consent';
  readonly asked: Question<Answer>;
  readonly preset: Answer;
  readonly withinMs: number | undefined;
}

/** How long a handler may take to end by itself after a cancel: its caller waits for a result. */
const LAST_WORDS_MS = 1_000;

/** What one call waits for: people's answers, and somebody to say that it is time. None of it outlasts the call. */
export class Waits {
  #expected: Demand | undefined;
  #closers: Set<() => void> | undefined;

  constructor(
    private readonly caller: Caller,
    private readonly desk: WaitsDesk,
  ) {}

  /** From now on this call can be fired, for what will be {@link demanded} next: nobody who saw a message fires in vain. */
  expectDemand(): void {
    this.#expected ??= this.#demand();
  }

  /** True once somebody fired this call; false where the call or the tool ends first. */
  async demanded(): Promise<boolean> {
    const { log, pauses } = this.desk;
    const { callingOff } = this.caller;
    const { fired, leave } = this.#expected ?? this.#demand();
    this.#expected = undefined;
    if (!pauses.isHurried) log.emit({ kind: 'planned', by: 'fixture', plan: 'demand', ...this.#about() });
    const wasFired = await pauses.within(fired, undefined, callingOff);
    leave();
    if (wasFired !== true && callingOff.reason !== null) this.#isGivenUp(callingOff.reason);
    return wasFired === true;
  }

  /** Asks a person by what `send` sends. Who fires the call gives the answer that was preset; null where nobody answers. */
  async ask<A extends string | number>(
    { what, asked, preset, withinMs }: Asking<A>,
    send: () => Promise<boolean>,
  ): Promise<A | null> {
    const { log, pauses } = this.desk;
    const demand = this.desk.demands.wait(this.caller.key, this.caller.addressee);
    const close = () => {
      demand.leave();
      asked.close();
    };
    this.#atClose(close);
    void demand.fired.then(() => {
      if (asked.resolve(preset))
        log.emit({ kind: 'decided', what, by: 'policy', value: preset, ...this.#about() });
    });
    const isAsked = await send(); // a question that never arrived is not waited for
    const since = pauses.now();
    const answer = isAsked ? await pauses.within(asked.answer, withinMs, this.caller.callingOff) : null;
    this.#closers?.delete(close);
    close();
    if (answer === null && isAsked && this.caller.callingOff.reason === null)
      log.emit({
        kind: 'expired',
        what: 'answer',
        afterMs: Math.round(pauses.now() - since),
        ...this.#about(),
      });
    return answer;
  }

  /** The event that was to be fired: whoever saw it wait must see that it does so no more. */
  #isGivenUp(why: string): void {
    const message = { what: 'event', type: 'subscription_event', count: 1 } as const;
    this.desk.log.emit({ kind: 'dropped', why, ...message, ...this.#about() });
  }

  #demand(): Demand {
    const { fired, leave } = this.desk.demands.wait(this.caller.key, this.caller.addressee);
    this.#atClose(leave);
    return { fired, leave };
  }

  #atClose(close: () => void): void {
    this.#closers ??= new Set();
    this.#closers.add(close);
  }

  /** What `work` comes to. Once the call is called off, it has a moment left to say something itself: null after that. */
  orCalledOff<T>(work: Promise<T>): Promise<T | null> {
    const lastWords = () => this.desk.pauses.within(work, LAST_WORDS_MS, new CallingOff());
    return Promise.race([work, this.caller.callingOff.happened().then(lastWords)]);
  }

  /** Nobody is asked any more. */
  close(): void {
    for (const close of this.#closers ?? []) close();
  }

  #about() {
    return { calls: [this.caller.key], thread: this.caller.addressee.group_id };
  }
}
