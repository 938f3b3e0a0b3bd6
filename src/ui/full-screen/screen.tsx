import { type Key, render } from 'ink';
import type { Clock } from '../../system/clock.js';
import { createStore } from '../store.js';
import { type Size, sizeOf, unbounded } from '../terminal.js';
import { throttled } from '../throttle.js';
import { App, type Shown } from './app.js';

/** What is played on a screen. */
export interface Play {
  press(input: string, key: Key): void;
  /** Rows, never more than fit; `isRunning`: they change as time goes on. */
  frame(size: Size): { readonly rows: readonly string[]; readonly isRunning: boolean };
}

export interface Stage {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly clock: Clock;
}

export interface FullScreen {
  /** Something is to be seen now that was not. */
  changed(): void;
  close(): Promise<void>;
}

/** At most 20 frames a second, however much happens. */
const FRAME_MS = 50;
const TICK_MS = 100;
const ENTER = '\u001b[?1049h\u001b[H';
const LEAVE = '\u001b[?1049l';

/**
 * A play on the alternate screen: what stood in the terminal before is there again afterwards, also after a signal or a crash.
 * Needs a terminal on both ends.
 */
export function fullScreen(play: Play, { stdin, stdout, clock }: Stage): FullScreen {
  const store = createStore<Shown>({ rows: [] });
  let stopTick = () => {};
  const draw = () => {
    const { rows, isRunning } = play.frame(sizeOf(stdout));
    store.set({ rows });
    stopTick();
    if (isRunning) stopTick = clock.after(TICK_MS, frames.ask);
  };
  const frames = throttled(clock, FRAME_MS, draw);
  const leave = () => void stdout.write(LEAVE);
  const press = (input: string, key: Key) => {
    play.press(input, key);
    frames.ask();
  };
  draw(); // before the screen is taken: a play that cannot begin leaves it alone
  stdout.write(ENTER);
  const view = render(<App store={store} onLeave={leave} onPress={press} />, {
    stdin,
    stdout: unbounded(stdout),
    exitOnCtrlC: false,
    patchConsole: false,
  });
  stdout.on('resize', frames.ask);
  return {
    changed: frames.ask,
    async close() {
      frames.stop();
      stopTick();
      stdout.off('resize', frames.ask);
      const over = view.waitUntilExit();
      view.unmount();
      await over;
    },
  };
}
