import { type ListScreen, listScreen } from '../../list/screen.js';
import type { PlatformScreenOptions } from './options.js';
import { PlatformList } from './platform-list.js';

/** The live list of the calls of a platform's sessions, on the alternate screen. Needs a terminal on both ends. */
export function platformScreen(options: PlatformScreenOptions): ListScreen {
  return listScreen(new PlatformList(options), options);
}
