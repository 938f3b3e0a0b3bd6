import type { Outcome } from '../../outcome/outcome.js';
import type { ChoiceQuestion, Consent, ConsentQuestion } from '../conversation/people.js';

/** A call that is answered in this process. */
export interface LocalCall {
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What templates and handlers see as `id`; one of ours unless told. */
  readonly id?: string;
  /** The thread: counts and states of fixtures are kept for it. One for all calls unless told. */
  readonly groupId?: string;
  /** Names the call in every event; made of thread and id unless told. */
  readonly key?: string;
  /** For fixtures that match them; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Aborted, the call is called off: its answer is then `canceled`, unless it had one. */
  readonly signal?: AbortSignal;
}

/** What a call shows or says beside its answer: a `view_update`, or a `subscription_event`. */
export type LocalMessage = Readonly<Record<string, unknown>> & { readonly type: string };

/**
 * How a call was answered (seed 003). A `payload` has been through response middleware and is JSON; `text` is what it is wrapped
 * into: a string as it is, other JSON encoded. A `verbatim` result is what was written, and no middleware has seen it. `silence`:
 * there is to be no answer at all.
 */
export type LocalReply =
  | { readonly kind: 'payload'; readonly payload: unknown; readonly text: string }
  | { readonly kind: 'verbatim'; readonly result: Readonly<Record<string, unknown>> }
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  | { readonly kind: 'silence' };

/** Every reply but silence, which no wire has. */
export type SpokenReply = Exclude<LocalReply, { kind: 'silence' }>;

/** `said`: the views and events that came before the answer, oldest first; what would come after it is said to nobody. */
export type LocalAnswer = LocalReply & { readonly said: readonly LocalMessage[] };

/** An answer together with what went out over the wire: JSON; undefined where nothing did. */
export type SentAnswer = LocalAnswer & { readonly sent: unknown };

/** Whoever answers what only a person can. */
export interface Asked {
  /** An index into `choices`; null where nobody answers. */
  choice(question: ChoiceQuestion): Promise<number | null>;
  consent(question: ConsentQuestion): Promise<Consent | null>;
}
