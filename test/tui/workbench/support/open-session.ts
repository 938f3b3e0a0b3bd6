import type { Size } from '../../../../src/tui/tty.js';
import { createWorkbenchProgram } from '../../../../src/tui/workbench/program.js';
import type { Moment } from '../../../events/build.js';
import { fakeClock } from '../../../support/fake-clock.js';
import { drawnWorkbench } from '../../drawn.js';
import { press } from '../form/support/pressing.js';
import { readyServer, type SetupOptions, setUpWorkbench, toolOf } from './set-up-workbench.js';

const USUAL: Size = { columns: 80, rows: 24 };
const SGR = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`, 'g');

export const withoutStyle = (row: string) => row.replaceAll(SGR, '');

export const EDIT = toolOf('edit_file', {
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
});
export const DROP = toolOf('drop_table', { annotations: { destructive: true } });

/** A session without a terminal: keys by their names, frames as text. */
export function openSession(options: SetupOptions = {}) {
  const clock = fakeClock();
  const setup = setUpWorkbench({ servers: [readyServer([EDIT, DROP])], clock, ...options });
  const session = createWorkbenchProgram(setup.options);
  setup.log.subscribe(event => session.event(event));
  session.changed();
  const draw = (size: Size) => drawnWorkbench(session, size, options.level);
  const frame = (size: Size) => draw(size).map(withoutStyle);
  draw(USUAL);
  return {
    ...setup,
    clock,
    draw,
    /** What is read on a screen of the usual size. */
    sees: (size: Size = USUAL) => frame(size).join('\n'),
    press(...names: readonly string[]) {
      session.store.dispatch({ type: 'resized', size: USUAL }); // keys apply to what was visible
      for (const name of names) session.press(press(name));
    },
    /** The model is another one. */
    changes(change: Partial<typeof setup.model>) {
      Object.assign(setup.model, change);
      session.changed();
    },
    typed: (text: string) => session.press(press(text)),
    /** Lets what was asked for come to its end. */
    settles: () => new Promise(resolve => setImmediate(resolve)),
  };
}

/** One with these facts, on the page of calls. */
export function onCalls(facts: readonly Moment[], options: SetupOptions = {}) {
  const session = openSession(options);
  session.emit(facts);
  session.press('c');
  return session;
}
