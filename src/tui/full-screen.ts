import type { Event } from '../events/events.js';
import type { Listener } from '../events/log.js';
import type { Clock } from '../system/clock.js';
import { beforeAnyEnd } from '../system/process.js';
import type { Frame, Shown } from './components.js';
import type { Press } from './keys.js';
import { createStore, isLargeEnough, type Size, sizeOf, throttled, tooSmallWords } from './terminal.js';

const HIDE_CURSOR = '\u001b[?25l';

const SHOW_CURSOR = '\u001b[?25h';

const ENTER = `\u001b[?1049h\u001b[H${HIDE_CURSOR}`;

const LEAVE = `${SHOW_CURSOR}\u001b[?1049l`;

const WIPE = '\u001b[H\u001b[J';

const FRAME_MS = 50;

const TICK_MS = 100;

interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
}

interface ScreenView {
  press(press: Press): void;
  frame(size: Size): Frame;
}

/**
 * Shows a view on the alternate screen. Restores the terminal afterwards, even after a signal or a crash. Draws the header before Ink is
 * loaded, and a body that needs no layout. Needs a terminal on stdin and stdout.
 */
export function fullScreen(view: ScreenView, { stdin, stdout, clock }: Terminal & { readonly clock: Clock }) {
  const shownNow = (): Shown => {
    const size = sizeOf(stdout);
    if (isLargeEnough(size)) return { size, frame: view.frame(size) };
    return { size, frame: { header: [tooSmallWords(size)], body: [], isRunning: false } };
  };
  const store = createStore(shownNow()); // before the alternate screen: if the view throws, the terminal is unchanged
  let stopTick = () => {};
  const draw = () => {
    store.set(shownNow());
    tick();
  };
  const tick = () => {
    stopTick();
    if (store.snapshot().frame.isRunning) stopTick = clock.after(TICK_MS, frames.ask);
  };
  const frames = throttled(clock, FRAME_MS, draw);
  const onPress = (press: Press) => {
    // If the terminal is too small, only Ctrl-C works.
    if (isLargeEnough(sizeOf(stdout)) || press.name === 'ctrl+c') view.press(press);
    frames.ask();
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
  stdout.on('resize', frames.ask);
  return {
    changed: frames.ask,
    async close(): Promise<void> {
      frames.stop();
      stopTick();
      stdout.off('resize', frames.ask);
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

/** A view of a server. It receives every event, and never blocks the server. */
export interface ServerView extends ScreenView {
  event(event: Event): void;
  notice(text: string, isBad: boolean): void;
  readonly summary: string;
}

export interface ServerScreenOptions extends Terminal {
  readonly clock: Clock;
  readonly subscribe: (listener: Listener) => () => void;
}

export interface ServerScreen {
  /** Reports a message about the server itself; an error stays until the next message. */
  notice(text: string, isBad?: boolean): void;
  summary(): string;
  close(): Promise<void>;
}

/** Shows a server full screen. Needs a terminal on stdin and stdout. */
export function serverScreen(
  viewOf: (onChange: () => void) => ServerView,
  options: ServerScreenOptions,
): ServerScreen {
  const view = viewOf(() => screen.changed());
  const screen = fullScreen(view, options);
  const unsubscribe = options.subscribe(event => {
    view.event(event);
    screen.changed();
  });
  return {
    notice(text, isBad = false) {
      view.notice(text, isBad);
      screen.changed();
    },
    summary: () => view.summary,
    close() {
      unsubscribe();
      return screen.close();
    },
  };
}
