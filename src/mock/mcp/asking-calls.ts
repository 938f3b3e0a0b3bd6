import { randomUUID } from 'node:crypto';
import { RecentMap } from '../../util/collections.js';
import { LIMITS } from '../../util/limits.js';
import type { Fields, FormQuestion } from '../conversation.js';
import type { LocalAnswer } from '../local-tool.js';

/** What comes next in a call: a form for the client, or its end. */
type Turn =
  | { readonly kind: 'form'; readonly form: FormQuestion }
  | { readonly kind: 'end'; readonly answer: LocalAnswer };

/** The name of a form among the `inputRequests`. */
export const idOf = ({ id = 'form' }: FormQuestion): string => id;

/**
 * A call that goes on over several requests (2026-07-28): the server answers with a form, and the client calls again with the values.
 */
export class AskingCall {
  readonly #abort = new AbortController();
  #onTurn: (turn: Turn) => void = () => {};
  #next: Promise<Turn>;
  #end: Promise<Turn> = new Promise(() => {});
  #answer: (responses: Fields) => void = () => {};

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
      this.#answer = responses => resolve(responses[idOf(form)]);
    });
    this.#onTurn({ kind: 'form', form });
    return answered;
  };

  /** Continues with the client's `inputResponses`. */
  resume(responses: Fields): void {
    this.#next = this.#turn();
    this.#answer(responses);
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

  /** Returns the state that names the call in its next request, and in no other. */
  wait(call: AskingCall): string {
    const state = randomUUID();
    this.#waiting.set(state, call);
    return state;
  }

  take(state: string): AskingCall | undefined {
    const call = this.#waiting.get(state);
    this.#waiting.delete(state);
    return call;
  }
}
