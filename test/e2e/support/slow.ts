/** Milliseconds for tests that are several processes each, which a busy machine takes its time to start. */
export const SLOW_MS = 60_000;
