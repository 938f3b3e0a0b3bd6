import { replace } from './edit.js';
import { type Child, type Field, type GroupField, withField } from './field.js';
import { fieldOf, itemOf } from './field-of.js';
import { focusOn } from './focus.js';
import type { Form } from './form.js';
import { freshSetting } from './setting.js';
import type { Row } from './stops.js';

/** Enter where something can be added: an item, or an object that is not there yet. Null where nothing can be. */
export function grow(form: Form, row: Row): Form | null {
  const { field } = row.child;
  if (field.kind === 'array') return addItem(form, row, field);
  if (field.kind !== 'object' || field.isPresent) return null;
  const opened = fieldOf(field.schema, {}, freshSetting(form.schema, row.path.length));
  return focusOn(replace(form, row, opened), form.focus + 1);
}

/** The new item takes the place of the row that added it, and the focus. */
function addItem(form: Form, row: Row, field: GroupField): Form {
  const { length } = field.children;
  const item = itemOf(field.schema, undefined, length, freshSetting(form.schema, row.path.length + 1));
  const grown: GroupField = { ...field, isPresent: true, children: [...field.children, item] };
  return focusOn(replace(form, row, grown), form.focus);
}

/** Takes out an item or a property that the schema does not name; empties what is optional; what is empty already is sent as empty. */
export function remove(form: Form, row: Row): Form {
  if (row.child.isExtra && row.kind === 'field') return takeOut(form, row);
  const field = without(row);
  return field ? focusOn(replace(form, row, field), form.focus) : form;
}

function takeOut(form: Form, row: Row): Form {
  const at = row.address.at(-1);
  const root = withField(form.root, row.address.slice(0, -1), group =>
    'isPresent' in group
      ? {
          ...group,
          children: renumbered(
            group,
            group.children.filter((_, index) => index !== at),
          ),
        }
      : group,
  );
  return focusOn({ ...form, root, faults: [] }, form.focus);
}

function renumbered({ kind }: GroupField, children: readonly Child[]): readonly Child[] {
  return kind === 'array' ? children.map((child, key) => ({ ...child, key })) : children;
}

function without({ child: { field, isRequired } }: Row): Field | null {
  if (field.kind === 'text') return emptied(field);
  if ('text' in field) return { ...field, text: '' };
  if (isRequired) return null;
  switch (field.kind) {
    case 'choice':
      return { ...field, at: null };
    case 'variants':
      return { ...field, at: null, children: [] };
    case 'object':
      return { ...field, isPresent: false, children: [] };
    case 'array':
      return field.children.length === 0 ? { ...field, isPresent: !field.isPresent } : null;
  }
}

function emptied<T extends { readonly text: string; readonly sendsEmpty: boolean }>(field: T): T {
  return field.text === ''
    ? { ...field, sendsEmpty: !field.sendsEmpty }
    : { ...field, text: '', sendsEmpty: false };
}
