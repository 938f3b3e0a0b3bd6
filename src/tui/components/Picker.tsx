import { useContext } from 'react';
import { type PickerHints, type PickerState, pickerLines } from '../picker.js';
import type { Size } from '../terminal.js';
import { Lines, PaletteContext } from './Line.js';

interface PickerProps {
  readonly picker: PickerState;
  /** Includes the row of the keys. */
  readonly size: Size;
  readonly hints?: PickerHints | undefined;
}

/** A question to the user, its choices, and its keys. */
export function Picker({ picker, size, hints }: PickerProps) {
  const palette = useContext(PaletteContext);
  const { lines, keys } = pickerLines(picker, size, palette, hints);
  return <Lines lines={[...lines, keys].slice(0, size.rows)} width={size.columns} />;
}
