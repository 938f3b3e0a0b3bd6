import type { ColourLevel } from '../../dress/colour-level.js';
import type { Listener } from '../../exchange/log.js';
import type { Clock } from '../../system/clock.js';
import type { ShownTool } from './head.js';

export interface MockScreenOptions {
  readonly tool: ShownTool;
  readonly subscribe: (listener: Listener) => () => void;
  readonly controls: MockControls;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly clock: Clock;
  readonly level: ColourLevel;
  /** `q` or Ctrl-C, each time. Whoever listens lets the mock end, then closes the screen. */
  readonly onQuit: () => void;
}

/** What a person can make the mock do. */
export interface MockControls {
  readonly pause: () => void;
  readonly resume: () => void;
  /** The last callback of the call with this key once more; false where there is none. */
  readonly redeliver: (key: string) => boolean;
  /** What the calls with this id in this thread wait for; how many there were. */
  readonly fire: (id: string, groupId: string) => number;
}
