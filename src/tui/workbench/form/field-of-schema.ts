import {
  listOf,
  MOST_DEPTH,
  type Room,
  recordOf,
  roomFor,
  type Schema,
  sizeOf,
  target,
  together,
} from '../../../json-schema/example.js';
import { weightOf } from '../../../util/bounded.js';
import { compactJson, isRecord } from '../../../util/json-diagnosis.js';
import {
  type Child,
  type ChoiceField,
  type Field,
  faultsIn,
  type GroupField,
  type TextField,
  unfilled,
  type VariantsField,
} from './field.js';

/** Schemas that one may be put together from; more are somebody's trap. */
const MOST_PARTS = 32;

/**
 * A schema with its local `$ref` and all of its `allOf` in one; what it leaves open (`anyOf`, `oneOf`) stays open. Each part and each
 * property that is copied costs a step of `room`.
 */
function settled(schema: unknown, root: Schema, room: Room = roomFor()): Schema {
  let left = MOST_PARTS;
  const settle = (part: unknown, depth: number): Schema => {
    if (!isRecord(part) || depth > MOST_DEPTH || left-- <= 0 || room.left <= 0) return {};
    room.left -= 1 + sizeOf(part);
    const { $ref, allOf, ...own } = part;
    const parts = [target($ref, root), ...listOf(allOf).slice(0, MOST_PARTS)].filter(isRecord);
    return parts
      .map(inner => settle(inner, depth + 1))
      .reduce((whole: Schema, inner) => {
        room.left -= sizeOf(whole);
        return together(whole, inner);
      }, own);
  };
  return settle(schema, 0);
}

/** The schemas of which a value has one; none where the schema itself says what it is. */
function variantsOf(schema: Schema, root: Schema, room?: Room): readonly Schema[] {
  const { anyOf, oneOf, ...own } = schema;
  if (Array.isArray(schema['type']))
    return schema['type'].slice(0, MOST_VARIANTS).map(type => ({ ...schema, type }));
  const open = [listOf(anyOf), listOf(oneOf)].find(list => list.length > 0) ?? [];
  if (open.length === 0 || open.length > MOST_VARIANTS) return [];
  const variants = open.map(variant => settled(variant, root, room));
  return isTold(own, variants) ? [] : variants.map(variant => together(variant, own));
}

/** More of them nobody chooses from. */
const MOST_VARIANTS = 20;

/** Where the kind of the value is known and no alternative brings a property, they only say more about it. */
function isTold(own: Schema, variants: readonly Schema[]): boolean {
  if (own['type'] !== undefined && own['type'] !== 'object') return true;
  const known = recordOf(own['properties']);
  const isNew = (name: string) => !Object.hasOwn(known, name);
  const brings = (variant: Schema) => Object.keys(recordOf(variant['properties'])).some(isNew);
  return Object.keys(known).length > 0 && !variants.some(brings);
}

/** Of a settled schema: what a person fills in; JSON where no field says it better. */
export function kindOf(schema: Schema, root: Schema, room?: Room): Field['kind'] {
  if (valuesOf(schema).length > 0) return 'choice';
  if (variantsOf(schema, root, room).length > 0) return 'variants';
  return BY_TYPE.get(schema['type'] ?? told(schema))?.(schema) ?? 'json';
}

const BY_TYPE: ReadonlyMap<unknown, (schema: Schema) => Field['kind']> = new Map<
  unknown,
  (schema: Schema) => Field['kind']
>([
  ['string', () => 'text'],
  ['number', () => 'number'],
  ['integer', () => 'number'],
  ['object', schema => (hasProperties(schema) ? 'object' : 'json')],
  ['array', schema => (isRecord(schema['items']) && !('prefixItems' in schema) ? 'array' : 'json')],
]);

/** Where no type is named, what the schema speaks of. */
function told(schema: Schema): string | undefined {
  if (hasProperties(schema)) return 'object';
  return isRecord(schema['items']) ? 'array' : undefined;
}

function hasProperties(schema: Schema): boolean {
  return Object.keys(recordOf(schema['properties'])).length > 0;
}

/** The only values that there are, where the schema lists them. */
function valuesOf(schema: Schema): readonly unknown[] {
  if ('const' in schema) return [schema['const']];
  if (Array.isArray(schema['enum'])) return canBeChosen(schema['enum']) ? schema['enum'] : [];
  return FEW.get(schema['type']) ?? [];
}

/** More values than these are typed, not chosen; values that are objects are compared one by one, so fewer of those. */
const MOST = { plain: 10_000, objects: 100 };

function canBeChosen(values: readonly unknown[]): boolean {
  if (values.length > MOST.plain) return false;
  return values.length <= MOST.objects || values.every(value => typeof value !== 'object' || value === null);
}

const FEW: ReadonlyMap<unknown, readonly unknown[]> = new Map<unknown, readonly unknown[]>([
  ['boolean', [true, false]],
  ['null', [null]],
]);

/** Fields on one screen that anybody would go through; what would be more is JSON. */
const MOST_FIELDS = 1_000;
const MOST_STEPS = 200_000;

export interface Setting {
  /** Where a `$ref` points into. */
  readonly root: Schema;
  readonly depth: number;
  /** How many fields there may be at and below. */
  readonly room: number;
  /** What making all of it may cost: a schema may refer to itself many times (threats, row 22). */
  readonly steps: Room;
  readonly isRequired: boolean;
  /** What a default stands in for: where nothing was given yet all, else what is required; nothing where a variant was only guessed. */
  readonly defaults: 'all' | 'required' | 'none';
}

/** Of a person who opens something new. */
export function freshSetting(root: Schema, depth: number): Setting {
  return { root, depth, room: MOST_FIELDS, steps: roomFor(MOST_STEPS), isRequired: true, defaults: 'all' };
}

function takesDefault({ defaults, isRequired }: Setting): boolean {
  return defaults === 'all' || (defaults === 'required' && isRequired);
}

/** Each of so many gets its share of the room. */
function below(setting: Setting, count: number): Setting | null {
  const room = count === 0 ? 0 : Math.floor((setting.room - count) / count);
  return room < 0 ? null : { ...setting, room, depth: setting.depth + 1 };
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

function choiceField(schema: Schema, value: unknown, { isRequired }: Setting): ChoiceField | null {
  const values = valuesOf(schema);
  const only = isRequired && values.length === 1 ? 0 : null;
  const at = value === undefined ? only : placeOf(value, values);
  return at === -1 ? null : { kind: 'choice', schema, values, at };
}

/** The index of an equal value; -1 where there is none. */
function placeOf(value: unknown, values: readonly unknown[]): number {
  if (typeof value !== 'object' || value === null) return values.indexOf(value);
  const wanted = compactJson(value);
  return values.findIndex(one => typeof one === 'object' && compactJson(one) === wanted);
}

/** The index of the variant that a value is most likely of; looked at no deeper than its own members. */
function fittest(variants: readonly Schema[], value: unknown, setting: Bounds): number {
  const faults = variants.map(variant => misfits(variant, value, setting));
  return faults.indexOf(Math.min(...faults));
}

type Bounds = Pick<Setting, 'root' | 'steps'>;

const WRONG = 1_000;
/** Values of an `enum` that are compared in the time of a step. */
const COMPARED = 100;

function misfits(schema: Schema, value: unknown, bounds: Bounds): number {
  const values = valuesOf(schema);
  if (values.length > 0) return placeOf(value, values) >= 0 ? 0 : WRONG;
  return BY_KIND[kindOf(schema, bounds.root, bounds.steps)](schema, value, bounds);
}

type Misfits = (schema: Schema, value: unknown, bounds: Bounds) => number;

const BY_KIND: Readonly<Record<Field['kind'], Misfits>> = {
  text: (_, value) => (typeof value === 'string' ? 0 : WRONG),
  number: ({ type }, value) => (isNumber(value, type === 'integer') ? 0 : WRONG),
  array: (_, value) => (Array.isArray(value) ? 0 : WRONG),
  object: membersMisfit,
  choice: () => WRONG,
  json: () => 1, // whatever it is; one that says more comes first
  variants: () => 1,
};

function isNumber(value: unknown, isInteger: boolean): boolean {
  return isInteger ? Number.isInteger(value) : typeof value === 'number';
}

/** What is missing, what it does not know, and above all what must be another value: that is how variants are told apart. */
function membersMisfit(schema: Schema, value: unknown, { root, steps }: Bounds): number {
  if (!isRecord(value)) return WRONG;
  const properties = recordOf(schema['properties']);
  const missing = listOf(schema['required']).filter(name => !Object.hasOwn(value, String(name)));
  const unknown = Object.keys(value).filter(name => !Object.hasOwn(properties, name));
  const wrong = Object.entries(properties).filter(([name, property]) => {
    if (!Object.hasOwn(value, name)) return false;
    const values = valuesOf(settled(property, root, steps));
    steps.left -= Math.floor(values.length / COMPARED);
    return values.length > 0 && placeOf(value[name], values) < 0;
  });
  return unknown.length + 10 * (missing.length + wrong.length);
}

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
