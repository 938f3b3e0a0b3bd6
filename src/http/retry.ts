import pRetry from 'p-retry';

export interface RetryOptions {
  /** Attempts after the first. */
  readonly retries: number;
  /** Time in ms after the first attempt in which others may start. Default: 2,000. */
  readonly within?: number;
  readonly shouldRetry: (error: Error) => boolean;
  /** Ends the waiting at once; `work` must watch it too. */
  readonly signal?: AbortSignal;
}

/**
 * Retries `work` with exponential backoff, from 100–200 ms. A TypeError is a bug of ours and is not retried.
 * @param work gets the number of the attempt, from 1.
 * @throws the last attempt's error, or the signal's reason.
 */
export function retrying<T>(
  work: (attempt: number) => Promise<T>,
  { retries, within = 2_000, shouldRetry, signal }: RetryOptions,
): Promise<T> {
  return pRetry(work, {
    retries,
    maxRetryTime: within,
    minTimeout: 100,
    randomize: true,
    shouldRetry: ({ error }) => shouldRetry(error),
    ...(signal && { signal }),
  });
}
