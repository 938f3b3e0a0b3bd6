import type { Incoming } from '../../http/route.js';
import type { Clock } from '../../system/clock.js';
import type { Session } from './session.js';

/** The open waits for changes of sessions: long polls, and those of tests. */
export class ChangeWaits {
  readonly #ends = new Set<() => void>();
  #isClosed = false;

  constructor(private readonly clock: Clock) {}

  /**
   * Waits until `isThere` after an event of the session, up to `ms`, or until {@link close}.
   * @param incoming the request that waits
   * @returns false if its client disconnected meanwhile
   */
  wait(session: Session, ms: number, isThere: () => boolean, incoming?: Incoming): Promise<boolean> {
    if (ms <= 0 || this.#isClosed || isThere()) return Promise.resolve(true);
    return new Promise(resolve => {
      const done = (isWanted: boolean) => {
        cancel();
        unwatch();
        this.#ends.delete(end);
        resolve(isWanted);
      };
      const end = () => done(true);
      const cancel = this.clock.after(ms, end);
      const unwatch = session.onEvent(() => {
        if (isThere()) end();
      });
      this.#ends.add(end);
      incoming?.onGone(() => done(false));
    });
  }

  /** Ends all waits; later ones end at once. */
  close(): void {
    this.#isClosed = true;
    for (const end of [...this.#ends]) end();
  }
}
