import { fullScreen } from '../full-screen/screen.js';
import type { MockScreenOptions } from './options.js';
import { Session } from './session.js';

export interface MockScreen {
  /** Something about the mock itself; what is bad stands until the next notice. */
  notice(text: string, isBad?: boolean): void;
  /** How it went, in a line. */
  summary(): string;
  close(): Promise<void>;
}

/** The calls of a mock, full screen: it listens, and never keeps the mock waiting. Needs a terminal on both ends. */
export function mockScreen({ subscribe, ...options }: MockScreenOptions): MockScreen {
  const session = new Session(options, () => screen.changed());
  const screen = fullScreen(session, options);
  const unsubscribe = subscribe(event => {
    session.event(event);
    screen.changed();
  });
  return {
    notice(text, isBad = false) {
      session.notice(text, isBad);
      screen.changed();
    },
    summary: () => session.summary,
    async close() {
      unsubscribe();
      await screen.close();
    },
  };
}
