/** What a status says about an invocation. */
export type Acknowledgement = 'accepted' | 'retry' | 'refused';

/**
 * 200 is the acknowledgement, nothing else is (RT-NON200). A 5xx is retried (RT-RETRY); a 3xx or 4xx never (RT-NORETRY).
 * `lenient` takes any 2xx, for tools that mean well.
 */
export function judgeAcknowledgement(status: number, lenient: boolean): Acknowledgement {
  if (status === 200 || (lenient && status >= 200 && status < 300)) return 'accepted';
  return status >= 500 ? 'retry' : 'refused';
}
