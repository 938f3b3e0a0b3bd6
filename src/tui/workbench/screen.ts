import { fullScreen, type Mounted } from '../full-screen.js';
import type { WorkbenchOptions } from './model.js';
import { createWorkbenchProgram } from './program.js';

/** Shows the workbench full screen. Needs a terminal on stdin and stdout. */
export function workbenchScreen(options: WorkbenchOptions): Mounted {
  const program = createWorkbenchProgram(options);
  const screen = fullScreen(
    {
      ...program,
      async mount(frames, terminal) {
        const { mountWorkbench } = await import('./WorkbenchScreen.js');
        return mountWorkbench(program, frames, terminal);
      },
    },
    options,
  );
  const stop = options.onModelChange(program.changed);
  program.changed();
  return {
    close() {
      stop();
      return screen.close();
    },
  };
}
