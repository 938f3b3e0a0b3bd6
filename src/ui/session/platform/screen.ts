import type { ServerScreen } from '../../full-screen/server-screen.js';
import { listScreen } from '../../list/screen.js';
import type { PlatformScreenOptions } from './options.js';
import { PlatformList } from './platform-list.js';

/** The live list of the calls of a platform's sessions, on the alternate screen. Needs a terminal on both ends. */
export function platformScreen(options: PlatformScreenOptions): ServerScreen {
  return listScreen(new PlatformList(options), options);
}
