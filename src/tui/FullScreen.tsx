import { Text } from 'ink';
import { type ReactNode, useCallback, useLayoutEffect, useSyncExternalStore } from 'react';
import { beforeForcedEnd } from '../system/process.js';
import type { Frames, Mounted } from './full-screen.js';
import { mount } from './mount.js';
import { sizeOf, type Terminal, tooSmallMessage } from './terminal.js';
import { useKeys, usePaste, useWheel } from './use-keys.js';
import { TickContext } from './use-tick.js';

interface FullScreenProps {
  readonly frames: Frames;
  readonly stdout: NodeJS.WriteStream;
  /** Draws the current state. */
  readonly draw: () => ReactNode;
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
export function mountFullScreen(draw: () => ReactNode, frames: Frames, terminal: Terminal): Mounted {
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
