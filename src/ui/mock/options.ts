import type { ColourLevel } from '../../dress/colour-level.js';
import type { Listener } from '../../exchange/log.js';
import type { Clock } from '../../system/clock.js';
import type { ShownTool } from './head.js';

export interface MockSessionOptions {
  readonly tool: ShownTool;
  readonly controls: MockControls;
  readonly clock: Clock;
  readonly level: ColourLevel;
  /** Types of display segments that are drawn (RT-DISPLAY). */
  readonly supports: ReadonlySet<string>;
}

export interface MockScreenOptions extends MockSessionOptions {
  readonly subscribe: (listener: Listener) => () => void;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
}

/** What a person can make the mock do. */
export interface MockControls {
  readonly pause: () => void;
  readonly resume: () => void;
  /** The last callback of the call with this key once more; false where there is none. */
  readonly redeliver: (key: string) => boolean;
  /** What the calls with this id in this thread wait for; how many there were. */
  readonly fire: (id: string, groupId: string) => number;
  /** Reads the fixture files again, and says what came of it. */
  readonly reload: () => void;
  /** `q` or Ctrl-C, each time. Whoever listens lets the mock end, then closes the screen. */
  readonly quit: () => void;
}
