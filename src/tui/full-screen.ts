import type { Event } from '../events/events.js';
import type { Listener } from '../events/log.js';
import type { Colours } from '../render/terminal/theme.js';
import { linesPrinter } from '../render/terminal/wrap.js';
import type { Clock } from '../system/clock.js';
import { throttled } from '../system/clock.js';
import { beforeAnyEnd } from '../system/process.js';
import type { Draw, Mounted } from './FullScreen.js';
import type { Press } from './keys.js';
import type { ScreenLayout } from './screen/layout.js';
import type { ScreenAction, ScreenState } from './screen/state.js';
import type { Store } from './store.js';
import { sizeOf, type TtyStreams, tooSmallMessage } from './tty.js';

/** To the alternate screen, and back. There the cursor is hidden, and the terminal reports the wheel (1000, 1006) and pasted text (2004). */
const ENTER = '\u001b[?1049h\u001b[H\u001b[?25l\u001b[?1000h\u001b[?1006h\u001b[?2004h';
const LEAVE = '\u001b[?2004l\u001b[?1006l\u001b[?1000l\u001b[?25h\u001b[?1049l';
const WIPE = '\u001b[H\u001b[J';
const FRAME_MS = 50;
const TICK_MS = 100;

/** A screen without its components: its state, and what it does. */
export interface ScreenProgram {
  readonly store: Pick<Store<ScreenState<unknown>, ScreenAction<never>>, 'state' | 'subscribe' | 'dispatch'>;
  readonly layout: () => Pick<ScreenLayout, 'header'>;
  readonly press: (press: Press) => void;
  readonly event?: (event: Event) => void;
  /** Loads the components, and Ink with them. */
  readonly load: () => Promise<Draw>;
}

export interface FullScreenOptions extends TtyStreams, Colours {
  readonly clock: Clock;
  readonly subscribe?: (listener: Listener) => () => void;
}

/**
 * Shows a screen on the alternate screen of the terminal. Restores the terminal afterwards, even after a signal or a crash. Prints the
 * header before Ink is loaded. Needs a terminal on stdin and stdout.
 */
export function fullScreen(program: ScreenProgram, options: FullScreenOptions): Mounted {
  const { stdin, stdout, clock, subscribe, level, background } = options;
  const colours = { level, background };
  const { store } = program;
  const resize = () => store.dispatch({ type: 'resized', size: sizeOf(stdout) });
  resize();
  const frames = countFrames(clock);
  const first = tooSmallMessage(sizeOf(stdout)) === null ? program.layout().header : []; // may throw: the terminal is unchanged
  const { handOver, leave } = enterAlternateScreen(linesPrinter(colours)(first), { stdin, stdout });
  const press = (pressed: Press) => {
    // If the terminal is too small, only Ctrl-C works.
    if (tooSmallMessage(sizeOf(stdout)) === null || pressed.name === 'ctrl+c') program.press(pressed);
  };
  const stops = [store.subscribe(frames.request), frames.stop];
  const onResize = () => {
    resize();
    frames.draw();
  };
  stdout.on('resize', onResize);
  if (subscribe && program.event) stops.push(subscribe(program.event));
  const showing = Promise.all([import('./FullScreen.js'), program.load()]).then(
    ([{ mountFullScreen }, draw]) =>
      mountFullScreen(draw, { ...frames, colours, press, handOver, leave }, { stdin, stdout }),
  );
  return {
    async close() {
      for (const stop of stops) stop();
      stdout.off('resize', onResize);
      await (await showing).close();
    },
  };
}

/** Counts frames: at most one in a time, however much happens. */
function countFrames(clock: Clock) {
  const listeners = new Set<() => void>();
  let current = 0;
  const draw = () => {
    current++;
    for (const listener of listeners) listener();
  };
  const { request, stop } = throttled(clock, FRAME_MS, draw);
  return {
    current: () => current,
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    drawSoon: () => clock.after(TICK_MS, request),
    draw,
    request,
    stop,
  };
}

/**
 * Prints the first lines in raw mode: input from now on consists of keys for Ink, which takes over. Until then this function restores the
 * terminal.
 */
function enterAlternateScreen(first: string, { stdin, stdout }: TtyStreams) {
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
  stdout.write(`${ENTER}${first}`);
  const handOver = () => {
    forget();
    stdout.write(WIPE);
  };
  return { handOver, leave };
}
