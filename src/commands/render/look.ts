import { loadHighlighter } from '../../display/syntax/load.js';
import { type ColourLevel, colourLevel } from '../../dress/colour-level.js';
import { createTheme } from '../../dress/theme.js';
import type { Terminal } from '../terminal.js';
import type { Look } from './rows.js';
import { drawingsOf, type Section } from './sheet.js';

/** 256 colours: enough for code, and what a picture has. */
const RICH = 2;
const PIPE_WIDTH = 80;
const PICTURE_WIDTH = 100;

export interface LookOptions {
  readonly width?: number;
  readonly unfold?: boolean;
  /** Undefined: as the terminal and the environment say. */
  readonly color?: boolean;
}

/** How rows of text are made for whoever reads them. */
export async function lookOf(
  sections: readonly Section[],
  options: LookOptions,
  terminal: Terminal,
): Promise<Look> {
  const level = levelOf(options, terminal);
  const { unfold: isUnfolded = false } = options;
  const highlighter = level >= RICH ? await loadHighlighter(drawingsOf(sections)) : null;
  return { width: widthOf(options, terminal), theme: createTheme(level), isUnfolded, highlighter };
}

/** How those of a picture are made. */
export async function pictureLook(
  sections: readonly Section[],
  { width = PICTURE_WIDTH, unfold: isUnfolded = false }: LookOptions,
): Promise<Look> {
  const highlighter = await loadHighlighter(drawingsOf(sections));
  return { width, theme: createTheme(RICH), isUnfolded, highlighter };
}

function widthOf({ width }: LookOptions, { stdout }: Terminal): number {
  return width ?? ((stdout.isTTY && stdout.columns) || PIPE_WIDTH);
}

/** What is asked for by `--color` counts before the environment. */
function levelOf({ color }: LookOptions, { stdout, env }: Terminal): ColourLevel {
  const isTTY = stdout.isTTY === true;
  if (color !== true) return colourLevel({ env, isTTY, noColor: color === false });
  const { NO_COLOR: _, ...others } = env;
  return colourLevel({ env: { ...others, FORCE_COLOR: 'true' }, isTTY, noColor: false });
}
