import type { Mounted } from '../FullScreen.js';
import { fullScreen } from '../full-screen.js';
import type { WorkbenchOptions } from './model.js';
import { createWorkbenchProgram } from './program.js';

/** Shows the workbench full screen. Needs a terminal on stdin and stdout. */
export function workbenchScreen(options: WorkbenchOptions): Mounted {
  const program = createWorkbenchProgram(options);
  const screen = fullScreen(
    {
      ...program,
      async load() {
        const { drawWorkbench } = await import('./WorkbenchScreen.js');
        return drawWorkbench(program);
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
