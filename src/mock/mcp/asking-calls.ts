import { randomUUID } from 'node:crypto';
import { RecentMap } from '../../util/collections.js';
import { LIMITS } from '../../util/limits.js';
import type { FormQuestion } from '../conversation.js';
import type { LocalAnswer } from '../local-tool.js';

/** What comes next in a call: a form for the client, or its end. */
type Turn =
  | { readonly kind: 'form'; readonly form: FormQuestion }
  | { readonly kind: 'end'; readonly answer: LocalAnswer };

/**
 * A call that goes on over several requests (2026-07-28): the server answers with a form, and the client calls again with the values.
 */
export class AskingCall {
  /** Names the call in the next request. */
  readonly state = randomUUID();
  readonly #abort = new AbortController();
  #onTurn: (turn: Turn) => void = () => {};
  #next: Promise<Turn>;
  #end: Promise<Turn> = new Promise(() => {});
  #answer: (values: unknown) => void = () => {};

  constructor() {
    this.#next = this.#turn();
  }

  /** Aborted when the client cancels. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  start(answer: Promise<LocalAnswer>): void {
    this.#end = answer.then(end => ({ kind: 'end', answer: end }));
  }

  /** Asks a form with the answer to the request that is open now. */
  readonly ask = (form: FormQuestion): Promise<unknown> => {
    const answered = new Promise<unknown>(resolve => {
      this.#answer = resolve;
    });
    this.#onTurn({ kind: 'form', form });
    return answered;
  };

  /** Continues with the client's answer to the form. */
  resume(values: unknown): void {
    this.#next = this.#turn();
    this.#answer(values);
  }

  /** @param signal of the request that waits for the turn */
  async turn(signal: AbortSignal): Promise<Turn> {
    const cancel = () => this.#abort.abort();
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    const turn = await Promise.race([this.#next, this.#end]);
    if (turn.kind === 'form') signal.removeEventListener('abort', cancel); // a silent call can still be canceled
    return turn;
  }

  #turn(): Promise<Turn> {
    return new Promise(resolve => {
      this.#onTurn = resolve;
    });
  }
}

/** The latest calls that wait for an answer to a form, by their state. */
export class AskingCalls {
  readonly #waiting = new RecentMap<string, AskingCall>(LIMITS.callsRemembered.value);

  wait(call: AskingCall): void {
    this.#waiting.set(call.state, call);
  }

  take(state: string): AskingCall | undefined {
    const call = this.#waiting.get(state);
    this.#waiting.delete(state);
    return call;
  }
}
