import { argumentsOf } from './arguments-of.js';
import { focusOn } from './focus.js';
import type { Form } from './form.js';
import { formOf, isFillable } from './form-of.js';
import type { FormCommand } from './keys.js';
import { rawOf } from './raw-of.js';
import { insert, isTyping, lineEnd, lineStart, stepTyping, type Typing } from './typing.js';

/** From the fields to JSON by hand and back. What is no JSON object yet stays, with its fault; what was not touched goes back as it was. */
export function toggleRaw(form: Form): Form {
  if (form.mode === 'fields') return focusOn({ ...form, mode: 'raw', raw: rawOf(form.root), faults: [] }, 0);
  if (!isFillable(form.root)) return form;
  if (form.raw.text === rawOf(form.root).text) return focusOn({ ...form, mode: 'fields', faults: [] }, 0);
  const read = argumentsOf(form);
  return read.ok ? formOf(form.schema, read.value) : read.form;
}

/** A key while JSON is written by hand: first the text, and `Run` as the only other stop. */
export function pressRaw(form: Form, command: FormCommand | null, typed: string): Form {
  if (command === 'next' || command === 'previous') return focusOn(form, command === 'next' ? 1 : 0);
  if (form.focus === 1) return command === 'up' ? focusOn(form, 0) : form;
  const text = command === 'enter' ? '\n' : typed;
  const raw = text === '' ? moved(form.raw, command) : insert(form.raw, text);
  return raw.text === form.raw.text ? { ...form, raw } : { ...form, raw, faults: [] };
}

const LINES: Readonly<Partial<Record<FormCommand, number>>> = { up: -1, down: 1, pageUp: -10, pageDown: 10 };

function moved(raw: Typing, command: FormCommand | null): Typing {
  const lines = command === null ? undefined : LINES[command];
  if (lines !== undefined) return byLines(raw, lines);
  return isTyping(command) ? stepTyping(raw, command) : raw;
}

/** The same column of another line, as far as there is one. */
function byLines(raw: Typing, count: number): Typing {
  const column = raw.cursor - lineStart(raw);
  let at = raw;
  for (let left = Math.abs(count); left > 0; left--) at = neighbour(at, count < 0);
  const cursor = Math.min(at.cursor + column, lineEnd(at));
  return { ...raw, cursor };
}

/** The start of the line above or below; of its own where there is none. */
function neighbour({ text, cursor }: Typing, isUp: boolean): Typing {
  const start = lineStart({ text, cursor });
  const end = lineEnd({ text, cursor });
  if (isUp) return { text, cursor: start === 0 ? 0 : lineStart({ text, cursor: start - 1 }) };
  return { text, cursor: end === text.length ? start : end + 1 };
}
