import type { Line } from '../../../../../src/render/line.js';
import { type Press, pressOf } from '../../../../../src/tui/keys.js';
import type { Defaults } from '../../../../../src/tui/workbench/form/fields.js';
import { type FormState, formArguments, formOf } from '../../../../../src/tui/workbench/form/form.js';
import { formLines } from '../../../../../src/tui/workbench/form/lines.js';
import { pressForm } from '../../../../../src/tui/workbench/form/press.js';

/** `<down>`, `<ctrl-o>`; anything else is typed, in one piece. */
export function press(named: string): Press {
  const [, name] = /^<([\w-]+)>$/.exec(named) ?? [];
  if (name === undefined) return pressOf(named);
  const others: Readonly<Record<string, string>> = { shiftTab: 'shift+tab', backspace: 'erase' };
  return { name: others[name] ?? name.toLowerCase().replace('-', '+'), text: '' };
}

export function pressAll(form: FormState, ...names: readonly string[]): FormState {
  return names.reduce((at, name) => pressForm(at, press(name)), form);
}

/** A form of these properties. */
export function formFor(
  properties: Readonly<Record<string, unknown>>,
  required: readonly string[] = [],
  given?: Readonly<Record<string, unknown>>,
  defaults?: Defaults,
): FormState {
  return formOf({ type: 'object', properties, required }, given, defaults);
}

/** What it holds; a fault fails the test. */
export function valueIn(form: FormState): unknown {
  const read = formArguments(form);
  if (!read.ok) throw new Error(JSON.stringify(read.form.faults));
  return read.value;
}

/** Its rows without colour, the cursor between brackets. */
export function drawn(form: FormState, columns = 80, rows = 24): readonly string[] {
  return formLines(form, { columns, rows }).map(marked);
}

/** A line as it reads, with the cursor between brackets. */
export function marked(line: Line): string {
  const word = ({ text, tone }: Line[number]) => (tone === 'cursor' && text !== '' ? `[${text}]` : text);
  return line.map(word).join('').trimEnd();
}
