/** What a user is asked to pick from. */
export interface ChoiceQuestion {
  readonly prompt: string;
  readonly choices: readonly string[];
  /** An index into `choices`: what counts where the prompt is dismissed. */
  readonly default: number;
  /** Names the call and its thread, for the log. */
  readonly calls: readonly string[];
  readonly thread: string;
  /** The `id` that the answer must name. */
  readonly id: string;
}

/** What a user is asked to allow. */
export interface ConsentQuestion {
  readonly operation: string;
  readonly scopes: readonly string[];
  readonly calls: readonly string[];
  readonly thread: string;
}

export type Consent = 'granted' | 'refused';
