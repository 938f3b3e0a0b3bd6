import { type ServerScreen, serverScreen } from '../full-screen/server-screen.js';
import type { MockScreenOptions } from './options.js';
import { Session } from './session.js';

/** The calls of a mock, full screen: it listens, and never keeps the mock waiting. Needs a terminal on both ends. */
export function mockScreen(options: MockScreenOptions): ServerScreen {
  return serverScreen(onChange => new Session(options, onChange), options);
}
