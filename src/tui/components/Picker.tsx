import { type PickerHints, type PickerState, pickerLines } from '../picker.js';
import type { Size } from '../tty.js';
import { Lines } from './Line.js';

interface PickerProps {
  readonly picker: PickerState;
  /** Includes the row of the keys. */
  readonly size: Size;
  readonly hints?: PickerHints | undefined;
}

/** A question to the user, its choices, and its keys. */
export function Picker({ picker, size, hints }: PickerProps) {
  const { lines, keys } = pickerLines(picker, size, hints);
  return <Lines lines={[...lines, keys].slice(0, size.rows)} width={size.columns} />;
}
