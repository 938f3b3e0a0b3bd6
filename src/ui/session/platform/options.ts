import type { ColourLevel } from '../../../dress/colour-level.js';
import type { ServerStage } from '../../full-screen/server-screen.js';
import type { ShownPlatform } from './head.js';

export interface PlatformScreenOptions extends ServerStage {
  readonly platform: ShownPlatform;
  readonly level: ColourLevel;
  /** `q` or Ctrl-C, each time. Whoever listens lets the platform end, then closes the screen. */
  readonly onQuit: () => void;
}
