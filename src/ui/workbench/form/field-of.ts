import { listOf, MOST_DEPTH, recordOf, type Schema } from '../../../json-schema/example/resolved.js';
import { weightOf } from '../../../text/bounded.js';
import { isRecord } from '../../../text/is-record.js';
import type { Child, Field, GroupField, VariantsField } from './field.js';
import { fittest } from './fittest.js';
import { kindOf } from './kind-of.js';
import { choiceField, jsonField, numberField, textField } from './plain-field.js';
import { faultsIn, unfilled } from './read-faults.js';
import { below, type Setting, takesDefault } from './setting.js';
import { settled, variantsOf } from './settled.js';

/** The field for a schema, with a value in it; undefined is none. A value that the schema's own kind cannot hold is JSON. */
export function fieldOf(described: unknown, value: unknown, setting: Setting): Field {
  const schema = settled(described, setting.root, setting.steps);
  const given = value === undefined && takesDefault(setting) ? defaultIn(schema) : value;
  return MAKE[kindIn(schema, setting)](schema, given, setting) ?? jsonField(schema, given);
}

/** A default that weighs more than this is not filled in: nobody edits it in a form, and drawing it takes long. */
const MOST_WEIGHT = 2_000;

function defaultIn(schema: Schema): unknown {
  const value = schema['default'];
  return weightOf(value, MOST_WEIGHT) > MOST_WEIGHT ? undefined : value;
}

/** Arguments are an object even where nothing is said of what is in it. */
function kindIn(schema: Schema, { depth, root, steps }: Setting): Field['kind'] {
  const kind = depth > MOST_DEPTH ? 'json' : kindOf(schema, root, steps);
  return depth === 0 && kind === 'json' && schema['type'] === 'object' ? 'object' : kind;
}

type Make = (schema: Schema, value: unknown, setting: Setting) => Field | null;

const MAKE: Readonly<Record<Field['kind'], Make>> = {
  text: textField,
  number: numberField,
  json: jsonField,
  choice: choiceField,
  object: objectField,
  array: arrayField,
  variants: variantsField,
};

function objectField(schema: Schema, value: unknown, setting: Setting): GroupField | null {
  if (value !== undefined && !isRecord(value)) return null;
  const isPresent = value !== undefined || setting.isRequired;
  const children = isPresent ? membersOf(schema, value ?? {}, setting) : [];
  return children && { kind: 'object', schema, isPresent, children };
}

/** What the schema names, by itself or as required, then what else the value has. Null where there is no room for them. */
function membersOf(schema: Schema, value: Schema, setting: Setting): readonly Child[] | null {
  const properties = recordOf(schema['properties']);
  const required = new Set(listOf(schema['required']).filter(name => typeof name === 'string'));
  const named = new Set([...Object.keys(properties), ...required]);
  const names = [...new Set([...named, ...Object.keys(value)])];
  const inner = below(setting, names.length);
  const memberOf = (key: string, within: Setting): Child => {
    const described = Object.hasOwn(properties, key) ? properties[key] : schema['additionalProperties'];
    const own = Object.hasOwn(value, key) ? value[key] : undefined;
    const isRequired = required.has(key);
    return {
      key,
      isRequired,
      isExtra: !named.has(key),
      field: fieldOf(described, own, { ...within, isRequired }),
    };
  };
  return inner && names.map(name => memberOf(name, inner));
}

function arrayField(schema: Schema, value: unknown, setting: Setting): GroupField | null {
  if (value !== undefined && !Array.isArray(value)) return null;
  const items = listOf(value);
  const inner = below(setting, items.length);
  const isPresent = value !== undefined || setting.isRequired;
  if (!inner) return null;
  const children = items.map((item, index) => itemOf(schema, item, index, inner));
  return { kind: 'array', schema, isPresent, children };
}

/** An item that is there is sent, empty or not. */
export function itemOf(schema: Schema, value: unknown, index: number, setting: Setting): Child {
  const field = fieldOf(schema['items'], value, { ...setting, isRequired: true });
  return {
    key: index,
    isRequired: true,
    isExtra: true,
    field: field.kind === 'text' ? { ...field, sendsEmpty: true } : field,
  };
}

/** Which variant a value is of is guessed; where that was wrong, it is JSON as a whole. */
function variantsField(schema: Schema, value: unknown, setting: Setting): VariantsField | null {
  const variants = variantsOf(schema, setting.root, setting.steps);
  const open: VariantsField = { kind: 'variants', schema, variants, at: null, children: [] };
  if (value === undefined) return open;
  const at = fittest(variants, value, setting);
  const chosen = inVariant(open, at, value, { ...setting, defaults: 'none' });
  return chosen.children.every(child => faultsIn(child, unfilled).length === 0) ? chosen : null;
}

/** The field with this variant chosen; its value under it is the one given. */
export function inVariant(field: VariantsField, at: number, value: unknown, setting: Setting): VariantsField {
  const inner = fieldOf(field.variants[at], value, {
    ...setting,
    depth: setting.depth + 1,
    isRequired: true,
  });
  return { ...field, at, children: [{ key: null, isRequired: true, isExtra: false, field: inner }] };
}
