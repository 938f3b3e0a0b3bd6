import { renderToString } from 'ink';
import { createElement } from 'react';
import { type Frame, Screen } from '../../src/tui/ink.js';
import type { Size } from '../../src/tui/terminal.js';

/** The rows of a screen as Ink lays them out. @param columns of the terminal, if it became narrower since */
export function drawn(
  view: { frame(size: Size): Frame },
  size: Size,
  columns = size.columns,
): readonly string[] {
  const screen = createElement(Screen, { frame: view.frame(size), size });
  return renderToString(screen, { columns }).split('\n');
}
