import { render } from 'ink';
import type { ReactElement } from 'react';
import type { Clock } from '../../system/clock.js';
import { createStore, type Store } from '../store.js';
import { type Size, sizeOf, unbounded } from '../terminal.js';
import { throttled } from '../throttle.js';

/** At most ten frames a second, however much happens, and as many while nothing does: clocks run. */
export const FRAME_MS = 100;

/** What there is to see, and whether something can be pressed: until then what is typed is for whoever has the terminal next. */
export interface Shown {
  readonly takesKeys: boolean;
}

/** What is drawn, and by what. */
export interface Play<State extends Shown> {
  /** As it is now. */
  readonly state: (size: Size) => State;
  /** Nothing: while somebody else has the terminal. */
  readonly away: Partial<State>;
  readonly element: (store: Store<State>) => ReactElement;
  readonly takesKeys: () => boolean;
}

export interface Stage {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly clock: Clock;
}

export interface LiveView {
  /** Something happened: it is drawn soon. */
  changed(): void;
  redraw(): void;
  /** Lets somebody else use the terminal for a while. */
  aside<T>(work: () => Promise<T>): Promise<T>;
  /** Draws what is to stay, and leaves the terminal in order. @param end called before that */
  close(end: () => void): Promise<void>;
}

/** Draws in place, below what is on the screen already; the last frame stays there. Needs a terminal on both ends. */
export function liveView<State extends Shown>(play: Play<State>, { stdin, stdout, clock }: Stage): LiveView {
  let isAside = false;
  let isOver = false;
  const state = () => play.state(sizeOf(stdout));
  const store = createStore(state());
  const mount = () => {
    const options = { stdin, stdout: unbounded(stdout), exitOnCtrlC: false, patchConsole: false };
    const { unmount, waitUntilExit } = render(play.element(store), options);
    return { unmount, over: waitUntilExit() }; // asked for after the end, it would leave a listener behind
  };
  let view = mount();
  const redraw = () => {
    if (isAside) return;
    const tookKeys = store.snapshot().takesKeys;
    store.set(state());
    if (tookKeys && !play.takesKeys()) setImmediate(letGo);
  };
  // Ink reads on where nobody presses keys any more: what is typed then is for whoever has the terminal next.
  const letGo = () => {
    if (!play.takesKeys()) stdin.pause();
  };
  const frames = throttled(clock, FRAME_MS, redraw);
  const leave = async () => {
    await new Promise(setImmediate); // React draws in a microtask what the store holds
    view.unmount();
    await view.over;
  };
  stdout.on('resize', redraw);
  const stopTicking = ticking(clock, frames.ask);
  return {
    changed() {
      // Raw mode begins and ends with what can be pressed.
      if (play.takesKeys() === store.snapshot().takesKeys) frames.ask();
      else redraw();
    },
    redraw,
    async aside(work) {
      isAside = true;
      store.set(play.away);
      await leave();
      return work().finally(() => {
        if (isOver) return;
        isAside = false;
        view = mount();
        redraw();
      });
    },
    async close(end) {
      isOver = true;
      end();
      stopTicking();
      frames.stop();
      stdout.off('resize', redraw);
      redraw();
      await leave();
    },
  };
}

function ticking(clock: Clock, tick: () => void): () => void {
  let cancel = () => {};
  const next = () => {
    cancel = clock.after(FRAME_MS, () => {
      tick();
      next();
    });
  };
  next();
  return () => cancel();
}
