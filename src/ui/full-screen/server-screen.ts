import type { Event } from '../../exchange/events.js';
import type { Listener } from '../../exchange/log.js';
import { fullScreen, type Play, type Stage } from './screen.js';

/** What a server plays: it hears of everything that happens, and never keeps the server waiting. */
export interface ServerPlay extends Play {
  event(event: Event): void;
  notice(text: string, isBad: boolean): void;
  readonly summary: string;
  /** Nobody looks any more. */
  close?(): void;
}

export interface ServerStage extends Stage {
  readonly subscribe: (listener: Listener) => () => void;
}

export interface ServerScreen {
  /** Something about the server itself; what is bad stands until the next notice. */
  notice(text: string, isBad?: boolean): void;
  /** How it went, in a line. */
  summary(): string;
  close(): Promise<void>;
}

/** What a server does, live, on a screen of its own. Needs a terminal on both ends. */
export function serverScreen(
  playWith: (onChange: () => void) => ServerPlay,
  { subscribe, ...stage }: ServerStage,
): ServerScreen {
  const play = playWith(() => screen.changed());
  const screen = fullScreen(play, stage);
  const unsubscribe = subscribe(event => {
    play.event(event);
    screen.changed();
  });
  return {
    notice(text, isBad = false) {
      play.notice(text, isBad);
      screen.changed();
    },
    summary: () => play.summary,
    async close() {
      unsubscribe();
      play.close?.();
      await screen.close();
    },
  };
}
