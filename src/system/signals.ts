export const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export type EndingSignal = (typeof ENDING_SIGNALS)[number];

/**
 * Calls `handler` for every signal that asks us to end, also repeated ones. Returns a function that stops listening; the signals then
 * end the process again.
 */
export function onSignals(handler: (signal: EndingSignal) => void): () => void {
  for (const signal of ENDING_SIGNALS) process.on(signal, handler);
  return () => {
    for (const signal of ENDING_SIGNALS) process.off(signal, handler);
  };
}

/** Waits at most `ms` milliseconds for `work`; false on timeout. */
export async function cameWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>(resolve => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
