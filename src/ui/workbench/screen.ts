import { type FullScreen, fullScreen } from '../full-screen/screen.js';
import type { WorkbenchOptions } from './options.js';
import { Session } from './session.js';

/** The workbench, full screen. Needs a terminal on both ends. */
export function workbenchScreen(options: WorkbenchOptions): Pick<FullScreen, 'close'> {
  const { subscribe, onEvent, ...stage } = options;
  const session = new Session(options, () => screen.changed());
  const screen = fullScreen(session, stage);
  const changed = () => {
    session.changed();
    screen.changed();
  };
  const stops = [
    subscribe(changed),
    onEvent(event => {
      session.event(event);
      screen.changed();
    }),
  ];
  changed();
  return {
    async close() {
      for (const stop of stops) stop();
      session.close();
      await screen.close();
    },
  };
}
