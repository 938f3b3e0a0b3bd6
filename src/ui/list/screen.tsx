import { render } from 'ink';
import type { Event } from '../../exchange/events.js';
import type { Listener } from '../../exchange/log.js';
import type { Clock } from '../../system/clock.js';
import { App, type Shown } from '../mock/app.js';
import type { Command } from '../mock/keys.js';
import { createStore } from '../store.js';
import { type Size, sizeOf, unbounded } from '../terminal.js';
import { throttled } from '../throttle.js';
import type { Frame } from './frame.js';

/** What a list knows, and what keys do to it. */
export interface Listed {
  event(event: Event): void;
  command(command: Command): void;
  frame(size: Size): Pick<Frame, 'rows' | 'isRunning'>;
  notice(text: string, isBad: boolean): void;
  readonly summary: string;
}

export interface ListStage {
  readonly subscribe: (listener: Listener) => () => void;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly clock: Clock;
}

export interface ListScreen {
  /** Something about the server itself; what is bad stands until the next notice. */
  notice(text: string, isBad?: boolean): void;
  /** How it went, in a line. */
  summary(): string;
  close(): Promise<void>;
}

/** At most 20 frames a second, however much happens. */
const FRAME_MS = 50;
const TICK_MS = 100;
const ENTER = '\u001b[?1049h\u001b[H';
const LEAVE = '\u001b[?1049l';

/**
 * The live list of what a server does, on the alternate screen: what stood in the terminal before is there again afterwards, also
 * after a signal or a crash. Needs a terminal on both ends.
 */
export function listScreen(listed: Listed, { subscribe, stdin, stdout, clock }: ListStage): ListScreen {
  const store = createStore<Shown>({ rows: [] });
  let stopTick = () => {};
  const draw = () => {
    const { rows, isRunning } = listed.frame(sizeOf(stdout));
    store.set({ rows });
    stopTick();
    if (isRunning) stopTick = clock.after(TICK_MS, frames.ask);
  };
  const frames = throttled(clock, FRAME_MS, draw);
  const leave = () => void stdout.write(LEAVE);
  stdout.write(ENTER);
  draw();
  const view = render(
    <App
      store={store}
      onLeave={leave}
      onCommand={command => {
        listed.command(command);
        frames.ask();
      }}
    />,
    { stdin, stdout: unbounded(stdout), exitOnCtrlC: false, patchConsole: false },
  );
  const unsubscribe = subscribe(event => {
    listed.event(event);
    frames.ask();
  });
  stdout.on('resize', frames.ask);
  return {
    notice(text, isBad = false) {
      listed.notice(text, isBad);
      frames.ask();
    },
    summary: () => listed.summary,
    async close() {
      unsubscribe();
      frames.stop();
      stopTick();
      stdout.off('resize', frames.ask);
      const over = view.waitUntilExit();
      view.unmount();
      await over;
    },
  };
}
