import type { Session } from './session.js';

export interface SessionLimits {
  /** Of one session. */
  readonly calls: number;
  /** Of all that is kept of its calls. */
  readonly bytes: number;
}

/**
 * The session without its oldest calls, where there are too many: down to half of what is allowed, so that it is not done each time.
 * What it waits for stays.
 */
export function withoutOldCalls(session: Session, most: SessionLimits): Session {
  if (session.calls.size <= most.calls && session.size <= most.bytes) return session;
  const calls = new Map(session.calls);
  let { size } = session;
  for (const [key, call] of session.calls) {
    if (calls.size <= most.calls / 2 && size <= most.bytes / 2) break;
    if (session.pending.has(key)) continue;
    calls.delete(key);
    size -= call.size;
  }
  return { ...session, calls, size, forgotten: session.forgotten + session.calls.size - calls.size };
}
