import pRetry from 'p-retry';

export interface RetryOptions {
  /** How many further attempts after the first. */
  readonly retries: number;
  /** No attempt starts later than this after the first one, in milliseconds; 2,000 unless told. */
  readonly within?: number;
  readonly shouldRetry: (error: Error) => boolean;
  /** Ends the waiting at once; an attempt under way ends by it only if `work` heeds it too. */
  readonly signal?: AbortSignal;
}

/**
 * Works until it succeeds, waiting 100 to 200 ms, then twice that and so on.
 * A TypeError is a fault of ours and never retried.
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
