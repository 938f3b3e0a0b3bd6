import { loadLexers } from '../../render/syntax.js';
import type { Colours } from '../../render/terminal/theme.js';
import type { Clock } from '../../system/clock.js';
import { throttled } from '../../system/clock.js';
import { mount } from '../mount.js';
import type { TtyStreams } from '../tty.js';
import type { Live } from './effects.js';
import type { Frame } from './frame.js';
import { LiveApp } from './LiveView.js';
import type { LiveState } from './state.js';

/** Frames are drawn at most ten times a second, and as often without events, since clocks run. */
const FRAME_MS = 100;

interface MountOptions extends TtyStreams {
  readonly live: Live;
  readonly frame: (state: LiveState) => Frame;
  readonly colours: Colours;
  readonly clock: Clock;
}

/** Draws in place, below the existing output; the last frame stays. Needs a terminal on stdin and stdout. */
export function mountLive({ live, frame, colours, stdin, stdout, clock }: MountOptions) {
  const { dispatch, refresh } = live;
  const draw = () => mount(<LiveApp live={live} frame={frame} />, { stdin, stdout }, colours);
  refresh();
  stdout.on('resize', refresh); // before Ink draws for the new size
  let view = draw();
  const frames = throttled(clock, FRAME_MS, refresh);
  const tick = () => {
    frames.request();
    stopTicking = clock.after(FRAME_MS, tick);
  };
  let stopTicking = clock.after(FRAME_MS, tick);
  const stopLoading = clock.after(FRAME_MS, () => void (colours.level >= 2 && loadLexers()));
  const unmount = async () => {
    await new Promise(setImmediate); // React draws the current state in a microtask
    view.unmount();
    await view.over;
  };
  return {
    /** Schedules a frame. A page to visit appears, and raw mode begins and ends, immediately. */
    changed() {
      if (live.hasNewPage()) refresh();
      else frames.request();
    },
    /** Lets other code use the terminal during `work`. */
    async lendTerminal<T>(work: () => Promise<T>): Promise<T> {
      dispatch({ type: 'aside', isAside: true });
      await unmount();
      return work().finally(() => {
        if (live.state().isOver) return;
        dispatch({ type: 'aside', isAside: false });
        refresh();
        view = draw();
      });
    },
    /** Draws the last frame, which stays on the screen. */
    async close() {
      live.end();
      stopLoading();
      stopTicking();
      frames.stop();
      stdout.off('resize', refresh);
      refresh();
      await unmount();
    },
  };
}
