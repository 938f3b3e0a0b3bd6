import { startingWith, step } from './choose.js';
import { withoutFaultsAt } from './faults.js';
import { type Field, type TextField, type VariantsField, withField } from './field.js';
import { inVariant } from './field-of.js';
import { focusedRow, focusOn } from './focus.js';
import type { Form } from './form.js';
import { kindOf } from './kind-of.js';
import { freshSetting } from './setting.js';
import type { Row } from './stops.js';
import { insert, stepTyping, type Typing, type TypingCommand } from './typing.js';

/** A key in the focused field: moves in its text, or goes through its choices. */
export function edit(form: Form, row: Row, command: TypingCommand): Form {
  const { field } = row.child;
  if ('text' in field) return write(form, row, field, typing => stepTyping(typing, command));
  if (!('at' in field)) return form;
  return choose(form, row, step(field, command, !row.child.isRequired));
}

/** Characters for the focused field. */
export function type(form: Form, typed: string): Form {
  const row = focusedRow(form);
  if (!row || row.kind === 'add') return form;
  const { field } = row.child;
  if ('text' in field) return write(form, row, field, typing => insert(typing, typed));
  if (typed === ' ') return edit(form, row, 'right');
  if (field.kind === 'choice') return choose(form, row, startingWith(field, typed));
  return field.kind === 'variants' ? typeInto(form, row, field, typed) : form;
}

/** Whoever types where a text is one of the variants means that one. */
function typeInto(form: Form, row: Row, field: VariantsField, typed: string): Form {
  const kinds = field.variants.map(variant => kindOf(variant, form.schema));
  const wanted = /^[-\d]/.test(typed) && kinds.includes('number') ? 'number' : 'text';
  const at = kinds.indexOf(wanted);
  return at < 0 ? form : type(focusOn(choose(form, row, at), form.focus + 1), typed);
}

function write(form: Form, row: Row, field: TextField, change: (typing: Typing) => Typing): Form {
  const { text, cursor } = change({ text: field.text, cursor: form.cursor });
  const moved = { ...form, cursor };
  return text === field.text ? moved : replace(moved, row, { ...field, text });
}

function choose(form: Form, row: Row, at: number | null): Form {
  const { field } = row.child;
  if (field.kind === 'choice') return replace(form, row, { ...field, at });
  if (field.kind !== 'variants' || at === field.at) return form;
  if (at === null) return replace(form, row, { ...field, at, children: [] });
  return replace(form, row, inVariant(field, at, undefined, freshSetting(form.schema, row.path.length)));
}

/** The form with another field in a row; what was wrong there is being mended. */
export function replace(form: Form, row: Row, field: Field): Form {
  const root = withField(form.root, row.address, () => field);
  return { ...form, root, faults: withoutFaultsAt(form, row) };
}
