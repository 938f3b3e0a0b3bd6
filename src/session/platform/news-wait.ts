import type { Clock } from '../../system/clock.js';
import type { StopBell } from './stop-bell.js';
import type { SessionStore } from './store.js';

export interface NewsWait {
  readonly store: SessionStore;
  readonly clock: Clock;
  /** Rings when the platform stops. */
  readonly bell: StopBell;
}

export interface Wanted {
  readonly id: string;
  readonly ms: number;
  /** Whether there is what is waited for. */
  readonly isThere: () => boolean;
  /** Calls back where nobody waits any more. */
  readonly onGone?: ((callback: () => void) => void) | undefined;
}

/** Resolves once there is news of a session, after its time, or when the platform stops; false where whoever waited went away. */
export function untilNews(
  { store, clock, bell }: NewsWait,
  { id, ms, isThere, onGone }: Wanted,
): Promise<boolean> {
  if (ms <= 0 || isThere()) return Promise.resolve(true);
  return new Promise(resolve => {
    const done = (isWanted: boolean) => {
      callOff();
      unwatch();
      unlisten();
      resolve(isWanted);
    };
    const callOff = clock.after(ms, () => done(true));
    const unwatch = store.watch(id, () => {
      if (isThere()) done(true);
    });
    const unlisten = bell.listen(() => done(true));
    onGone?.(() => done(false));
  });
}
