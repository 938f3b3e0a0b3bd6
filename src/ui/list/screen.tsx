import type { Event } from '../../exchange/events.js';
import type { Listener } from '../../exchange/log.js';
import { fullScreen, type Stage } from '../full-screen/screen.js';
import type { Size } from '../terminal.js';
import type { Frame } from './frame.js';
import { type Command, commandsOf } from './keys.js';

/** What a list knows, and what keys do to it. */
export interface Listed {
  event(event: Event): void;
  command(command: Command): void;
  frame(size: Size): Pick<Frame, 'rows' | 'isRunning'>;
  notice(text: string, isBad: boolean): void;
  readonly summary: string;
}

export interface ListStage extends Stage {
  readonly subscribe: (listener: Listener) => () => void;
}

export interface ListScreen {
  /** Something about the server itself; what is bad stands until the next notice. */
  notice(text: string, isBad?: boolean): void;
  /** How it went, in a line. */
  summary(): string;
  close(): Promise<void>;
}

/** The live list of what a server does, on a screen of its own. Needs a terminal on both ends. */
export function listScreen(listed: Listed, { subscribe, ...stage }: ListStage): ListScreen {
  const screen = fullScreen(
    {
      press: (input, key) => {
        for (const command of commandsOf(input, key)) listed.command(command);
      },
      frame: size => listed.frame(size),
    },
    stage,
  );
  const unsubscribe = subscribe(event => {
    listed.event(event);
    screen.changed();
  });
  return {
    notice(text, isBad = false) {
      listed.notice(text, isBad);
      screen.changed();
    },
    summary: () => listed.summary,
    async close() {
      unsubscribe();
      await screen.close();
    },
  };
}
