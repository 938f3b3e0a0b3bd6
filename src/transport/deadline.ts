/**
 * Calls `giveUp` once, when the time is over or the signal says so.
 * @param timeoutMs milliseconds; 0 for no limit.
 * @returns how to call it off.
 */
export function watchDeadline(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  giveUp: (code: 'ETIMEDOUT' | 'ABORTED', message: string) => void,
): () => void {
  const late = () => giveUp('ETIMEDOUT', `no answer within ${timeoutMs} ms`);
  const timer = timeoutMs > 0 ? setTimeout(late, timeoutMs) : undefined;
  if (!signal) return () => clearTimeout(timer);
  const abort = () => giveUp('ABORTED', 'the request was called off');
  signal.addEventListener('abort', abort, { once: true });
  return () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  };
}
