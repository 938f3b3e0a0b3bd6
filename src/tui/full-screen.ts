import type { Event } from '../events/events.js';
import type { Listener } from '../events/log.js';
import type { Clock } from '../system/clock.js';
import { beforeAnyEnd } from '../system/process.js';
import type { Frame, Shown } from './ink.js';
import type { Press } from './keys.js';
import { createStore, type Size, sizeOf, type Terminal, throttled, tooSmallMessage } from './terminal.js';

/** To the alternate screen, and back; the cursor is hidden there. */
const ENTER = '\u001b[?1049h\u001b[H\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const WIPE = '\u001b[H\u001b[J';
const FRAME_MS = 50;
const TICK_MS = 100;

interface ScreenView {
  press(press: Press): void;
  frame(size: Size): Frame;
  event?(event: Event): void;
}

export interface FullScreenOptions extends Terminal {
  readonly clock: Clock;
  readonly subscribe?: (listener: Listener) => () => void;
}

/**
 * Shows a view on the alternate screen. Restores the terminal afterwards, even after a signal or a crash. Draws the header before Ink is
 * loaded, and a body that needs no layout. Needs a terminal on stdin and stdout.
 * @param viewOf creates the view, which reports its changes except those by keys and events
 */
export function fullScreen<View extends ScreenView>(
  viewOf: (onChange: () => void) => View,
  { stdin, stdout, clock, subscribe }: FullScreenOptions,
) {
  let stopTick = () => {};
  const frames = throttled(clock, FRAME_MS, () => {
    store.set(shownNow());
    tick();
  });
  const tick = () => {
    stopTick();
    if (store.snapshot().frame.isRunning) stopTick = clock.after(TICK_MS, frames.request);
  };
  const view = viewOf(frames.request);
  const shownNow = (): Shown => {
    const size = sizeOf(stdout);
    const message = tooSmallMessage(size);
    if (message === null) return { size, frame: view.frame(size) };
    return { size, frame: { header: [message], body: [], isRunning: false } };
  };
  const store = createStore(shownNow()); // before the alternate screen: if the view throws, the terminal is unchanged
  const onPress = (press: Press) => {
    // If the terminal is too small, only Ctrl-C works.
    if (tooSmallMessage(sizeOf(stdout)) === null || press.name === 'ctrl+c') view.press(press);
    frames.request();
  };
  tick();
  const { header, body } = store.snapshot().frame;
  const { handOver, leave } = enterAlternateScreen([...header, ...('list' in body ? [] : body)], {
    stdin,
    stdout,
  });
  const showing = import('./ink.js').then(({ inkView }) => {
    handOver();
    return inkView({ store, onPress, onLeave: leave }, { stdin, stdout });
  });
  stdout.on('resize', frames.request);
  const unsubscribe = subscribe?.(event => {
    view.event?.(event);
    frames.request();
  });
  return {
    view,
    async close(): Promise<void> {
      unsubscribe?.();
      frames.stop();
      stopTick();
      stdout.off('resize', frames.request);
      await (await showing).close();
    },
  };
}

/**
 * Draws a first frame in raw mode: input from now on consists of keys for Ink, which takes over. Until then this function restores the
 * terminal.
 */
function enterAlternateScreen(rows: readonly string[], { stdin, stdout }: Terminal) {
  let isEntered = true;
  const leave = () => {
    if (isEntered) stdout.write(LEAVE);
    isEntered = false; // a second time would move the shell's cursor
  };
  const forget = beforeAnyEnd(() => {
    stdin.setRawMode(false);
    leave();
  });
  stdin.setRawMode(true);
  stdout.write(`${ENTER}${rows.join('\n')}`);
  const handOver = () => {
    forget();
    stdout.write(WIPE);
  };
  return { handOver, leave };
}
