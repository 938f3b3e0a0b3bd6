import type { IBufferCell } from '@xterm/headless';

/** One character on the screen, and how it looks. */
export interface Cell {
  readonly text: string;
  /** Colours by the numbers of the palette, the default one null. */
  readonly foreground: number | null;
  readonly background: number | null;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly inverse: boolean;
  readonly underline: boolean;
}

/** Numbers of the 16 colours. */
export const RED = 1;
export const GREEN = 2;
export const MAGENTA = 5;
export const CYAN = 6;

export function cellAt(cell: IBufferCell): Cell {
  return {
    text: cell.getChars() || ' ',
    foreground: cell.isFgDefault() ? null : cell.getFgColor(),
    background: cell.isBgDefault() ? null : cell.getBgColor(),
    bold: cell.isBold() !== 0,
    dim: cell.isDim() !== 0,
    inverse: cell.isInverse() !== 0,
    underline: cell.isUnderline() !== 0,
  };
}

/** What one property of these cells is, where it is the same for all of them. @throws Error where it is not. */
export function common<K extends keyof Cell>(cells: readonly Cell[], key: K): Cell[K] {
  const [first] = cells;
  if (!first || cells.some(cell => cell[key] !== first[key]))
    throw new Error(`${key} differs: ${cells.map(cell => `${cell.text}=${cell[key]}`).join(' ')}`);
  return first[key];
}
