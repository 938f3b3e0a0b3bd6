/** No more is taken off, in ms: a tool that works before it answers may have a toolset that is as slow. */
const MOST_OFF_MS = 500;

/**
 * How long an acknowledgement took by itself: without what the toolset takes at the same time, since the machine may be busy, or the
 * tool far away. What took over a second stays late in any case.
 */
export function ownTime(tookMs: number, toolsetMs: number): { readonly ms: number; readonly offMs: number } {
  const offMs = Math.min(tookMs, toolsetMs, MOST_OFF_MS);
  return { ms: tookMs - offMs, offMs };
}
