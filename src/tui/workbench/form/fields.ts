import {
  exampleOf,
  listOf,
  MOST_DEPTH,
  recordOf,
  roomFor,
  type Schema,
  sizeOf,
  target,
  together,
} from '../../../json-schema/example.js';
import type { SchemaFault } from '../../../json-schema/faults.js';
import { diagnose, jsonFault, lossyNumberNotes, MAX_DEPTH, scanJson } from '../../../util/json.js';
import { weightOf } from '../../../util/time-limit.js';
import { compactJson, isRecord, jsonPath } from '../../../util/values.js';

interface Described {
  /** With its local `$ref` and `allOf` merged in. */
  readonly schema: Schema;
}

/** Typed text: a string as it is, the digits of a number, or JSON of any kind. */
export interface TextField extends Described {
  readonly kind: 'text' | 'number' | 'json';
  readonly text: string;
  /** Whether an empty text is sent as `""`; otherwise an empty field is left out. */
  readonly sendsEmpty: boolean;
}

/** One of a few values. `at` is the index of the chosen one. */
export interface ChoiceField extends Described {
  readonly kind: 'choice';
  readonly values: readonly unknown[];
  readonly at: number | null;
}

/** An object or an array. */
export interface GroupField extends Described {
  readonly kind: 'object' | 'array';
  readonly isPresent: boolean;
  readonly children: readonly Child[];
}

/** A value of one of several schemas; its only child is the value under the chosen one. */
export interface VariantsField extends Described {
  readonly kind: 'variants';
  readonly variants: readonly Schema[];
  readonly at: number | null;
  readonly children: readonly Child[];
}

export type Field = TextField | ChoiceField | GroupField | VariantsField;

export interface Child {
  /** A property, an index, or null where the value is the parent's own. */
  readonly key: string | number | null;
  readonly isRequired: boolean;
  /** An array item, or a property that the schema does not name: it can be removed as a whole. */
  readonly isExtra: boolean;
  readonly field: Field;
}

/** A schema with more parts, alternatives, values or fields than these is edited as JSON. Values that are objects are compared one by one. */
const MOST = { parts: 32, variants: 20, values: 10_000, objects: 100, fields: 1_000 };

/** Steps for all fields of a form: a schema may refer to itself many times (threats, row 22). */
const MOST_STEPS = 200_000;

/** A heavier default is not filled in. */
const MOST_WEIGHT = 2_000;

/** Where a field stands, and which defaults are filled in at and below it. */
interface Place {
  readonly depth: number;
  /** How many fields there may be below. */
  readonly room: number;
  readonly isRequired: boolean;
  /** `none`: the schema is only one of several that the value may have. */
  readonly defaults: 'all' | 'required' | 'none';
}

/** Makes the fields of a schema in a bounded number of steps. */
export class FieldMaker {
  readonly #steps = roomFor(MOST_STEPS);

  /** @param root where a `$ref` points into */
  constructor(private readonly root: Schema) {}

  /** All arguments. Without `initial` every default is filled in; with it only a required value that is missing. */
  arguments(initial: Readonly<Record<string, unknown>> | undefined): Field {
    const described = { type: 'object', ...this.root };
    return this.field(described, initial, { ...ADDED, depth: 0, defaults: initial ? 'required' : 'all' });
  }

  /** The field for a schema with a value in it. A value that the schema's own kind cannot hold is JSON. */
  field(described: unknown, value: unknown, place = ADDED): Field {
    const schema = this.#merged(described);
    const takesDefault = place.defaults === 'all' || (place.defaults === 'required' && place.isRequired);
    const given = value === undefined && takesDefault ? defaultOf(schema) : value;
    return this.#make[this.#kindAt(schema, place)](schema, given, place) ?? jsonField(schema, given);
  }

  /** An array item; it is sent even where it is empty. */
  item(array: Schema, index: number, value?: unknown, place = ADDED): Child {
    const field = this.field(array['items'], value, { ...place, isRequired: true });
    return {
      key: index,
      isRequired: true,
      isExtra: true,
      field: field.kind === 'text' ? { ...field, sendsEmpty: true } : field,
    };
  }

  /** The field with one of its variants chosen, which then holds the value. */
  variant(field: VariantsField, at: number, value?: unknown, place = ADDED): VariantsField {
    const inner = this.field(field.variants[at], value, {
      ...place,
      depth: place.depth + 1,
      isRequired: true,
    });
    return { ...field, at, children: [{ key: null, isRequired: true, isExtra: false, field: inner }] };
  }

  /** How a person fills in a value of this schema. */
  kindOf(schema: Schema): Field['kind'] {
    if (valuesOf(schema).length > 0) return 'choice';
    if (this.#variantsOf(schema).length > 0) return 'variants';
    const { type, items } = schema;
    const hasProperties = Object.keys(recordOf(schema['properties'])).length > 0;
    if (type === 'string') return 'text';
    if (type === 'number' || type === 'integer') return 'number';
    if (hasProperties && (type === undefined || type === 'object')) return 'object';
    const isArray = isRecord(items) && (type === undefined || type === 'array');
    return isArray && !('prefixItems' in schema) ? 'array' : 'json';
  }

  readonly #make = {
    text: textField,
    number: numberField,
    json: jsonField,
    choice: choiceField,
    object: (schema: Schema, value: unknown, place: Place) => this.#object(schema, value, place),
    array: (schema: Schema, value: unknown, place: Place) => this.#array(schema, value, place),
    variants: (schema: Schema, value: unknown, place: Place) => this.#variants(schema, value, place),
  } satisfies Record<Field['kind'], (schema: Schema, value: unknown, place: Place) => Field | null>;

  /** The arguments as a whole are an object even where the schema describes no property. */
  #kindAt(schema: Schema, { depth }: Place): Field['kind'] {
    const kind = depth > MOST_DEPTH ? 'json' : this.kindOf(schema);
    return depth === 0 && kind === 'json' && schema['type'] === 'object' ? 'object' : kind;
  }

  /** A schema with its local `$ref` and its `allOf` merged in; `anyOf` and `oneOf` stay. Each copied property costs a step. */
  #merged(schema: unknown, depth = 0, parts = { left: MOST.parts }): Schema {
    if (!isRecord(schema) || depth > MOST_DEPTH || parts.left-- <= 0 || this.#steps.left <= 0) return {};
    this.#steps.left -= 1 + sizeOf(schema);
    const { $ref, allOf, ...own } = schema;
    let whole: Schema = own;
    for (const part of [target($ref, this.root), ...listOf(allOf).slice(0, MOST.parts)]) {
      if (!isRecord(part)) continue;
      const inner = this.#merged(part, depth + 1, parts);
      this.#steps.left -= sizeOf(whole);
      whole = together(whole, inner);
    }
    return whole;
  }

  /** The schemas of which a value has one; none where the schema itself says what the value is. */
  #variantsOf(schema: Schema): readonly Schema[] {
    const { anyOf, oneOf, ...own } = schema;
    const { type: types } = schema;
    if (Array.isArray(types)) return types.slice(0, MOST.variants).map(type => ({ ...schema, type }));
    const open = [listOf(anyOf), listOf(oneOf)].find(list => list.length > 0) ?? [];
    if (open.length === 0 || open.length > MOST.variants) return [];
    const variants = open.map(variant => this.#merged(variant));
    return saysEnough(own, variants) ? [] : variants.map(variant => together(variant, own));
  }

  #object(schema: Schema, value: unknown, place: Place): GroupField | null {
    if (value !== undefined && !isRecord(value)) return null;
    const isPresent = value !== undefined || place.isRequired;
    const children = isPresent ? this.#members(schema, value ?? {}, place) : [];
    return children && { kind: 'object', schema, isPresent, children };
  }

  /** The properties that the schema names or requires, then the other ones of the value. Null where they are too many. */
  #members(schema: Schema, value: Schema, place: Place): readonly Child[] | null {
    const properties = recordOf(schema['properties']);
    const required = new Set(listOf(schema['required']).filter(name => typeof name === 'string'));
    const named = new Set([...Object.keys(properties), ...required]);
    const names = [...new Set([...named, ...Object.keys(value)])];
    const inner = below(place, names.length);
    return (
      inner &&
      names.map(key => {
        const described = Object.hasOwn(properties, key) ? properties[key] : schema['additionalProperties'];
        const own = Object.hasOwn(value, key) ? value[key] : undefined;
        const isRequired = required.has(key);
        const field = this.field(described, own, { ...inner, isRequired });
        return { key, isRequired, isExtra: !named.has(key), field };
      })
    );
  }

  #array(schema: Schema, value: unknown, place: Place): GroupField | null {
    if (value !== undefined && !Array.isArray(value)) return null;
    const items = listOf(value);
    const inner = below(place, items.length);
    const children = inner && items.map((item, index) => this.item(schema, index, item, inner));
    return (
      children && { kind: 'array', schema, isPresent: value !== undefined || place.isRequired, children }
    );
  }

  /** The variant of a value is a guess; where it is wrong, the value is JSON as a whole. */
  #variants(schema: Schema, value: unknown, place: Place): VariantsField | null {
    const variants = this.#variantsOf(schema);
    const field: VariantsField = { kind: 'variants', schema, variants, at: null, children: [] };
    if (value === undefined) return field;
    const misfits = variants.map(variant => this.#misfit(variant, value));
    const at = misfits.indexOf(Math.min(...misfits));
    const chosen = this.variant(field, at, value, { ...place, defaults: 'none' });
    return chosen.children.every(child => faultsIn(child).length === 0) ? chosen : null;
  }

  /** How little a value looks like one of a schema; members of the value are looked at, nothing below them. */
  #misfit(schema: Schema, value: unknown): number {
    const values = valuesOf(schema);
    if (values.length > 0) return indexOfEqual(value, values) >= 0 ? 0 : WRONG;
    const kind = this.kindOf(schema);
    if (kind === 'object') return isRecord(value) ? this.#misfitMembers(schema, value) : WRONG;
    if (kind === 'json' || kind === 'variants') return 1; // takes any value: a schema that says more comes first
    if (kind === 'array') return Array.isArray(value) ? 0 : WRONG;
    const isFit = schema['type'] === 'integer' ? Number.isInteger(value) : typeof value === schema['type'];
    return isFit ? 0 : WRONG;
  }

  /** Constants tell variants apart best, then missing members, then unknown ones. */
  #misfitMembers(schema: Schema, value: Readonly<Record<string, unknown>>): number {
    const properties = recordOf(schema['properties']);
    const missing = listOf(schema['required']).filter(name => !Object.hasOwn(value, String(name)));
    const unknown = Object.keys(value).filter(name => !Object.hasOwn(properties, name));
    const wrong = Object.entries(properties).filter(([name, property]) => {
      if (!Object.hasOwn(value, name)) return false;
      const values = valuesOf(this.#merged(property));
      this.#steps.left -= Math.floor(values.length / COMPARED_IN_A_STEP);
      return values.length > 0 && indexOfEqual(value[name], values) < 0;
    });
    return unknown.length + 10 * (missing.length + wrong.length);
  }
}

const WRONG = 1_000;

const COMPARED_IN_A_STEP = 100;

/** The place of a field that a person adds. */
const ADDED: Place = { depth: 1, room: MOST.fields, isRequired: true, defaults: 'all' };

/** Each of `count` fields gets its share of the room. */
function below(place: Place, count: number): Place | null {
  const room = count === 0 ? 0 : Math.floor((place.room - count) / count);
  return room < 0 ? null : { ...place, room, depth: place.depth + 1 };
}

/** Where the kind of the value is known and no variant brings a property, the variants only restrict it. */
function saysEnough(own: Schema, variants: readonly Schema[]): boolean {
  if (own['type'] !== undefined && own['type'] !== 'object') return true;
  const known = recordOf(own['properties']);
  const bringsProperty = (variant: Schema) =>
    Object.keys(recordOf(variant['properties'])).some(name => !Object.hasOwn(known, name));
  return Object.keys(known).length > 0 && !variants.some(bringsProperty);
}

/** The only possible values, where the schema lists them. */
function valuesOf(schema: Schema): readonly unknown[] {
  const { type, enum: listed } = schema;
  if ('const' in schema) return [schema['const']];
  if (Array.isArray(listed)) return canBeChosen(listed) ? listed : [];
  if (type === 'boolean') return [true, false];
  return type === 'null' ? [null] : [];
}

function canBeChosen(values: readonly unknown[]): boolean {
  if (values.length > MOST.values) return false;
  return values.length <= MOST.objects || values.every(value => typeof value !== 'object' || value === null);
}

function indexOfEqual(value: unknown, values: readonly unknown[]): number {
  if (typeof value !== 'object' || value === null) return values.indexOf(value);
  const wanted = compactJson(value);
  return values.findIndex(one => typeof one === 'object' && compactJson(one) === wanted);
}

function defaultOf(schema: Schema): unknown {
  const value = schema['default'];
  return weightOf(value, MOST_WEIGHT) > MOST_WEIGHT ? undefined : value;
}

function textField(schema: Schema, value: unknown): TextField | null {
  if (value !== undefined && typeof value !== 'string') return null;
  return { kind: 'text', schema, text: value ?? '', sendsEmpty: value === '' };
}

function numberField(schema: Schema, value: unknown): TextField | null {
  if (value !== undefined && typeof value !== 'number') return null;
  const text = Object.is(value, -0) ? '-0' : String(value ?? '');
  return { kind: 'number', schema, text, sendsEmpty: false };
}

function jsonField(schema: Schema, value: unknown): TextField {
  const text = value === undefined ? '' : (compactJson(value) ?? '');
  return { kind: 'json', schema, text, sendsEmpty: false };
}

function choiceField(schema: Schema, value: unknown, { isRequired }: Place): ChoiceField | null {
  const values = valuesOf(schema);
  const only = isRequired && values.length === 1 ? 0 : null;
  const at = value === undefined ? only : indexOfEqual(value, values);
  return at === -1 ? null : { kind: 'choice', schema, values, at };
}

/** The value of a text; undefined where an empty text is left out. */
type TextReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

const wrong = (message: string): TextReading => ({ ok: false, message });

function readText({ kind, text, sendsEmpty, schema }: TextField): TextReading {
  if (text === '' && !sendsEmpty) return { ok: true, value: undefined };
  if (kind === 'text') return { ok: true, value: text };
  return kind === 'number' ? readNumber(text.trim(), schema['type'] === 'integer') : readJsonText(text);
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function readNumber(text: string, isInteger: boolean): TextReading {
  if (!NUMBER.test(text))
    return wrong(isInteger ? 'must be an integer, as 42' : 'must be a number, as 42 or -0.5');
  const value = Number(text);
  if (isInteger && !Number.isInteger(value)) return wrong('must be an integer');
  const loss = lossOf(text);
  return loss === null ? { ok: true, value } : wrong(loss);
}

/** Reads JSON that was typed; a syntax error is reported with its line and column. */
export function readJsonText(text: string): TextReading {
  const { isTooDeep, notes } = diagnose(text);
  if (isTooDeep) return wrong(`is nested deeper than ${MAX_DEPTH} levels`);
  const fault = jsonFault(text);
  if (fault) return wrong(`line ${fault.line}, column ${fault.column}: ${fault.message}`);
  let loss = notes.find(note => note.startsWith('the key ')) ?? null;
  scanJson(text, (kind, from, to) => {
    if (kind === 'scalar') loss ??= lossOf(text.slice(from, to));
    return loss === null;
  });
  return loss === null ? { ok: true, value: JSON.parse(text) } : wrong(loss);
}

/** Why a number would be sent as another one. `JSON.stringify` writes some numbers that are not exact, and writes them the same again. */
function lossOf(literal: string): string | null {
  const value = Number(literal);
  if (Number.isNaN(value) || String(value) === literal) return null;
  return lossyNumberNotes(literal)[0] ?? null;
}

/** The value of a field; a text that cannot be read stays text. Undefined where the field is empty. */
export function fieldValue(
  field: Field,
  read: (child: Child) => unknown = child => fieldValue(child.field),
): unknown {
  switch (field.kind) {
    case 'choice':
      return field.at === null ? undefined : field.values[field.at];
    case 'variants':
      return field.children[0] && read(field.children[0]);
    case 'object': {
      const members = field.children.map(child => [String(child.key), read(child)] as const);
      // fromEntries makes own members whatever their names are (threats, row 19).
      return field.isPresent
        ? Object.fromEntries(members.filter(([, value]) => value !== undefined))
        : undefined;
    }
    case 'array':
      return field.isPresent ? field.children.map(child => read(child) ?? null) : undefined;
    default: {
      const reading = readText(field);
      return reading.ok ? reading.value : field.text;
    }
  }
}

/** What is wrong with the text of a field; and, where that counts, that a required value is missing. */
function faultOf({ field, isRequired }: Child, demandsRequired: boolean): string | null {
  const reading = 'text' in field ? readText(field) : null;
  if (reading?.ok === false) return reading.message;
  return demandsRequired && isRequired && fieldValue(field) === undefined ? 'is required' : null;
}

/** The faults of a field and of those in it. @param demandsRequired whether a missing required value is one */
export function faultsIn(
  child: Child,
  demandsRequired = true,
  above: readonly (string | number)[] = [],
): readonly SchemaFault[] {
  const { key, field } = child;
  const path = key === null ? above : [...above, key];
  const message = faultOf(child, demandsRequired);
  const own = message === null ? [] : [{ path: jsonPath(path), message }];
  const children = 'children' in field ? field.children : [];
  return [...own, ...children.flatMap(each => faultsIn(each, demandsRequired, path))];
}

/** Values that may stand in for others; the rest are null. */
const MOST_EXAMPLES = 5_000;

/** The value with an example in place of each field that has a fault, so that the schema can judge the other fields. */
export function withExamples(child: Child, root: Schema, room = roomFor(MOST_EXAMPLES)): unknown {
  return faultOf(child, true) === null
    ? fieldValue(child.field, each => withExamples(each, root, room))
    : exampleOf(child.field.schema, { root, room });
}
