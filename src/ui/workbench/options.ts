import type { ColourLevel } from '../../dress/colour-level.js';
import type { Listener } from '../../exchange/log.js';
import type { Clock } from '../../system/clock.js';
import type { Controls } from './controls.js';
import type { World } from './world.js';

/** What a person wants to do first. */
export interface Start {
  /** The id of a server; the first one that offers the operation unless told. */
  readonly server?: string;
  readonly operation?: string;
  /** The path of one that is shown at once. */
  readonly transcript?: string;
  /** What its form is filled in with: as words they are typed by its `inputSchema`, which is not known before. */
  readonly arguments?: (schema: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
}

export interface SessionOptions {
  readonly world: World;
  readonly controls: Controls;
  readonly clock: Clock;
  readonly level: ColourLevel;
  readonly supports: ReadonlySet<string>;
  readonly start: Start;
}

export interface WorkbenchOptions extends SessionOptions {
  /** Told when servers or volumes are not as they were. */
  readonly subscribe: (listener: () => void) => () => void;
  /** Of events, once the session's book has them. */
  readonly onEvent: (listener: Listener) => () => void;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
}
