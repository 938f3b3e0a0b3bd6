import { createTheme } from '../../../../../src/render/terminal/theme.js';
import { type Press, readSequence } from '../../../../../src/tui/keys.js';
import { drawForm } from '../../../../../src/tui/workbench/form/draw.js';
import { Form } from '../../../../../src/tui/workbench/form/form.js';

/** `<down>`, `<ctrl-e>`; anything else is typed, in one piece. */
export function press(named: string): Press {
  const [, name] = /^<([\w-]+)>$/.exec(named) ?? [];
  if (name === undefined) return readSequence(named) as Press;
  const others: Readonly<Record<string, string>> = { shiftTab: 'shift+tab', backspace: 'erase' };
  return { name: others[name] ?? name.toLowerCase().replace('-', '+'), text: '' };
}

export function pressAll(form: Form, ...names: readonly string[]): Form {
  return names.reduce((at, name) => at.press(press(name)), form);
}

/** A form of these properties. */
export function formFor(
  properties: Readonly<Record<string, unknown>>,
  required: readonly string[] = [],
  initial?: Readonly<Record<string, unknown>>,
): Form {
  return Form.of({ type: 'object', properties, required }, initial);
}

/** What it holds; a fault fails the test. */
export function valueIn(form: Form): unknown {
  const read = form.arguments();
  if (!read.ok) throw new Error(JSON.stringify(read.form.state.faults));
  return read.value;
}

/** Its rows without colour, the cursor between brackets. */
export function drawn(form: Form, columns = 80, rows = 24): readonly string[] {
  return drawForm(form, { columns, rows }, createTheme(0)).map(row =>
    row.replaceAll('\u001b[7m', '[').replaceAll('\u001b[27m', ']').trimEnd(),
  );
}
