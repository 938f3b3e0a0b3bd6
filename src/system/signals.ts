export const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export type EndingSignal = (typeof ENDING_SIGNALS)[number];

/**
 * Calls `handler` at every signal that asks us to end, the second and third ones too: whether that means "at once" is the
 * caller's decision. Returns how to stop listening; the signals then end the process again.
 */
export function onSignals(handler: (signal: EndingSignal) => void): () => void {
  for (const signal of ENDING_SIGNALS) process.on(signal, handler);
  return () => {
    for (const signal of ENDING_SIGNALS) process.off(signal, handler);
  };
}

/** Waits for `work`, `ms` milliseconds at most. False where it had not come by then. */
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
