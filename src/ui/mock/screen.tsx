import { render } from 'ink';
import { createStore } from '../store.js';
import { sizeOf, unbounded } from '../terminal.js';
import { throttled } from '../throttle.js';
import { App, type Shown } from './app.js';
import type { MockScreenOptions } from './options.js';
import { Session } from './session.js';

export interface MockScreen {
  /** Something about the mock itself; what is bad stands until the next notice. */
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
 * The live list of a mock's calls, on the alternate screen: what stood in the terminal before is there again afterwards, also
 * after a signal or a crash. Needs a terminal on both ends.
 */
export function mockScreen(options: MockScreenOptions): MockScreen {
  const { subscribe, stdin, stdout, clock } = options;
  const session = new Session(options);
  const store = createStore<Shown>({ rows: [] });
  let stopTick = () => {};
  const draw = () => {
    const { rows, isRunning } = session.frame(sizeOf(stdout));
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
        session.command(command);
        frames.ask();
      }}
    />,
    { stdin, stdout: unbounded(stdout), exitOnCtrlC: false, patchConsole: false },
  );
  const unsubscribe = subscribe(event => {
    session.event(event);
    frames.ask();
  });
  stdout.on('resize', frames.ask);
  return {
    notice(text, isBad = false) {
      session.notice(text, isBad);
      frames.ask();
    },
    summary: () => session.summary,
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
