import {
  type ServerPlay,
  type ServerScreen,
  type ServerStage,
  serverScreen,
} from '../full-screen/server-screen.js';
import { type Command, commandsOf } from './keys.js';

/** What a list knows, and what keys do to it. */
export interface Listed extends Omit<ServerPlay, 'press'> {
  command(command: Command): void;
}

/** The live list of what a server does, on a screen of its own. Needs a terminal on both ends. */
export function listScreen(listed: Listed, stage: ServerStage): ServerScreen {
  return serverScreen(() => playOf(listed), stage);
}

function playOf(listed: Listed): ServerPlay {
  return {
    press(input, key) {
      for (const command of commandsOf(input, key)) listed.command(command);
    },
    frame: size => listed.frame(size),
    event: event => listed.event(event),
    notice: (text, isBad) => listed.notice(text, isBad),
    get summary() {
      return listed.summary;
    },
  };
}
