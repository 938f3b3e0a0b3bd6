import chalk from 'chalk';
import { renderToString } from 'ink';
import { createElement, type ReactElement } from 'react';
import type { ColourLevel } from '../../src/render/terminal/colour-level.js';
import { paletteOf } from '../../src/render/terminal/theme.js';
import { PaletteContext } from '../../src/tui/components/Line.js';
import { LiveListScreen } from '../../src/tui/live-list/LiveListScreen.js';
import type { LiveList } from '../../src/tui/live-list/live-list.js';
import type { Size } from '../../src/tui/tty.js';
import type { WorkbenchProgram } from '../../src/tui/workbench/program.js';
import { WorkbenchScreen } from '../../src/tui/workbench/WorkbenchScreen.js';

/** The rows of a component as Ink lays them out. */
export function rowsOf(node: ReactElement, columns: number, level: ColourLevel = 0): readonly string[] {
  const coloured = createElement(PaletteContext, { value: paletteOf(level) }, node);
  const before = chalk.level;
  chalk.level = level;
  try {
    return renderToString(coloured, { columns }).split('\n');
  } finally {
    chalk.level = before;
  }
}

/** The rows of a screen in a terminal of this size. @param columns of the terminal, if it became narrower since */
export function drawnList<Entry, Tab extends string>(
  screen: LiveList<Entry, Tab>,
  size: Size,
  columns = size.columns,
  level: ColourLevel = 0,
): readonly string[] {
  screen.store.dispatch({ type: 'resized', size });
  return rowsOf(createElement(LiveListScreen<Entry, Tab>, { screen }), columns, level);
}

export function drawnWorkbench(
  program: WorkbenchProgram,
  size: Size,
  level: ColourLevel = 0,
): readonly string[] {
  program.store.dispatch({ type: 'resized', size });
  return rowsOf(createElement(WorkbenchScreen, { program }), size.columns, level);
}
