import { type ListScreen, listScreen } from '../list/screen.js';
import type { MockScreenOptions } from './options.js';
import { Session } from './session.js';

/** The live list of a mock's calls, on the alternate screen. Needs a terminal on both ends. */
export function mockScreen(options: MockScreenOptions): ListScreen {
  return listScreen(new Session(options), options);
}
