import { Text } from 'ink';
import { type ReactNode, useCallback, useLayoutEffect, useSyncExternalStore } from 'react';
import type { Colours } from '../render/terminal/theme.js';
import { beforeForcedEnd } from '../system/process.js';
import type { Press } from './keys.js';
import { mount } from './mount.js';
import { sizeOf, type TtyStreams, tooSmallMessage } from './tty.js';
import { useKeys, usePaste, useWheel } from './use-keys.js';
import { TickContext } from './use-tick.js';

/** Draws the current state of a screen. */
export type Draw = () => ReactNode;

/** When a screen is drawn. */
interface Frames {
  /** The number of the current frame; with each one, React draws again. */
  readonly current: () => number;
  readonly subscribe: (listener: () => void) => () => void;
  /** Draws again after a moment, since time changes what is shown. Returns how to cancel that. */
  readonly drawSoon: () => () => void;
  readonly colours: Colours;
  readonly press: (press: Press) => void;
  /** Takes over the terminal, just before the first frame. */
  readonly handOver: () => void;
  /** Restores the terminal. Must be called when the screen is unmounted, for any reason. */
  readonly leave: () => void;
}

export interface Mounted {
  close(): Promise<void>;
}

interface FullScreenProps {
  readonly frames: Frames;
  readonly stdout: NodeJS.WriteStream;
  readonly draw: Draw;
}

/** The root of a full screen: draws each frame, and passes on the keys. */
function FullScreen({ frames, stdout, draw }: FullScreenProps) {
  const { press, leave } = frames;
  useSyncExternalStore(frames.subscribe, frames.current);
  useKeys(press);
  usePaste(useCallback(text => press({ name: '', text, isPaste: true }), [press]));
  useWheel(useCallback(rows => press({ name: rows < 0 ? 'wheelup' : 'wheeldown', text: '' }), [press]));
  useLayoutEffect(() => leave, [leave]);
  const tooSmall = tooSmallMessage(sizeOf(stdout));
  return (
    <TickContext value={frames.drawSoon}>{tooSmall === null ? draw() : <Text>{tooSmall}</Text>}</TickContext>
  );
}

/** Draws a full screen with Ink until it is closed, or a second signal ends the process. */
export function mountFullScreen(draw: Draw, frames: Frames, terminal: TtyStreams): Mounted {
  frames.handOver();
  const root = <FullScreen frames={frames} stdout={terminal.stdout} draw={draw} />;
  const view = mount(root, terminal, frames.colours);
  const forget = beforeForcedEnd(() => view.unmount());
  return {
    async close() {
      view.unmount();
      await view.over;
      forget();
    },
  };
}
