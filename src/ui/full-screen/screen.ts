import type { Key } from 'ink';
import type { Clock } from '../../system/clock.js';
import { createStore } from '../store.js';
import { isLargeEnough, type Size, sizeOf, tooSmallWords } from '../terminal.js';
import { throttled } from '../throttle.js';
import type { AppProps, Shown } from './app.js';
import { raiseCurtain } from './curtain.js';

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

/**
 * A play on the alternate screen: what stood in the terminal before is there again afterwards, also after a signal or a crash.
 * Its first frame does not wait until Ink is loaded. Needs a terminal on both ends.
 */
export function fullScreen(play: Play, { stdin, stdout, clock }: Stage): FullScreen {
  const store = createStore<Shown>({ rows: [] });
  let stopTick = () => {};
  const draw = () => {
    const size = sizeOf(stdout);
    const { rows, isRunning } = isLargeEnough(size) ? play.frame(size) : tooSmall(size);
    store.set({ rows });
    stopTick();
    if (isRunning) stopTick = clock.after(TICK_MS, frames.ask);
  };
  const frames = throttled(clock, FRAME_MS, draw);
  const onPress = (input: string, key: Key) => {
    if (isLargeEnough(sizeOf(stdout)) || isInterrupt(input, key)) play.press(input, key);
    frames.ask();
  };
  draw(); // before the screen is taken: a play that cannot begin leaves it alone
  const curtain = raiseCurtain(store.snapshot().rows, { stdin, stdout });
  const showing = show({ store, onPress, onLeave: curtain.leave }, curtain.handOver, { stdin, stdout });
  stdout.on('resize', frames.ask);
  return {
    changed: frames.ask,
    async close() {
      frames.stop();
      stopTick();
      stdout.off('resize', frames.ask);
      await (await showing).close();
    },
  };
}

/** It is the play's again once there is room. */
function tooSmall(size: Size) {
  return { rows: [tooSmallWords(size)], isRunning: false };
}

/** Whoever sees nothing can leave, and no more. */
function isInterrupt(input: string, { ctrl }: Key): boolean {
  return ctrl && input === 'c';
}

async function show(props: AppProps, onReady: () => void, ends: Pick<Stage, 'stdin' | 'stdout'>) {
  const { inkView } = await import('./ink-view.js');
  onReady();
  return inkView(props, ends);
}
