import { isDeepStrictEqual } from 'node:util';
import { type Schema, SchemaResolver } from '../../../json-schema/example.js';
import type { SchemaFault } from '../../../json-schema/schema-faults.js';
import { jsonFault } from '../../../util/json-fault.js';
import { diagnose, lossyNumberNotes } from '../../../util/json-notes.js';
import { LIMITS } from '../../../util/limits.js';
import { truncate } from '../../../util/text.js';
import { compactJson, isRecord, jsonPath, listOf, recordOf } from '../../../util/values.js';
import { weightOf } from '../../../util/weight.js';

type Kind = 'text' | 'number' | 'json' | 'choice' | 'object' | 'array' | 'variants';

/** A value that is being edited. Members that its kind does not use are empty. */
export interface Field {
  /** A property or an index; null at the root, and if the value replaces that of the parent. */
  readonly key: string | number | null;
  readonly isRequired: boolean;
  /** An array item, or a property that is not in the schema: it can be removed. */
  readonly isExtra: boolean;
  readonly kind: Kind;
  /** With its local `$ref` and `allOf` merged in. */
  readonly schema: Schema;
  /** The typed text: a string, the digits of a number, or any JSON. */
  readonly text: string;
  /** An object or array is present; an empty text is sent as `""`. */
  readonly isPresent: boolean;
  /** The values of a choice, or the schemas of variants. */
  readonly options: readonly unknown[];
  readonly at: number | null;
  /** Members, items, or the value of the chosen variant. */
  readonly children: readonly Field[];
}

/** The value is undefined if it is left out; invalid text stays text. */
interface Reading {
  readonly value?: unknown;
  readonly fault?: string;
}

interface KindOfField {
  readonly input: 'typed' | 'chosen' | 'group';
  /** The text of the type column. Untrusted. */
  readonly type: (schema: Schema) => string;
  /** Creates a field for a value; null if this kind cannot hold the value. */
  readonly fill: (value: unknown, schema: Schema, place: Place, maker: FieldMaker) => Partial<Field> | null;
  /** @param values of its children */
  readonly read: (field: Field, values: readonly unknown[]) => Reading;
}

export const KINDS = {
  text: {
    input: 'typed',
    type: () => 'string',
    fill: (value = '') => (typeof value === 'string' ? { text: value } : null),
    read: ({ text, isPresent }) => ({ value: text === '' && !isPresent ? undefined : text }),
  },
  number: {
    input: 'typed',
    type: ({ type }) => (type === 'integer' ? 'integer' : 'number'),
    fill(value = '') {
      if (value !== '' && typeof value !== 'number') return null;
      return { text: Object.is(value, -0) ? '-0' : String(value) };
    },
    read: ({ text, schema }) => (text === '' ? {} : readNumber(text.trim(), schema['type'])),
  },
  json: {
    input: 'typed',
    type: ({ type }) => (typeof type === 'string' ? `${type} as JSON` : 'JSON'),
    fill: value => ({ text: value === undefined ? '' : (compactJson(value) ?? '') }),
    read: ({ text }) => (text === '' ? {} : readJsonText(text)),
  },
  choice: {
    input: 'chosen',
    type: schema => ('const' in schema ? 'const' : 'enum' in schema ? 'enum' : String(schema['type'])),
    fill(value, schema, { isRequired }) {
      const options = valuesOf(schema);
      const only = isRequired && options.length === 1 ? 0 : null;
      const at = value === undefined ? only : indexOfEqual(value, options);
      return at === -1 ? null : { options, at };
    },
    read: ({ options, at }) => ({ value: at === null ? undefined : options[at] }),
  },
  object: {
    input: 'group',
    type: () => 'object',
    fill(value, schema, place, maker) {
      if (value !== undefined && !isRecord(value)) return null;
      const isPresent = value !== undefined || place.isRequired;
      const children = isPresent ? maker.members(schema, value ?? {}, place) : [];
      return children && { isPresent, children };
    },
    read({ isPresent, children }, values) {
      const members = children.map(({ key }, index) => [String(key), values[index]] as const);
      // fromEntries creates own members for all names, including `__proto__` (threats, row 19).
      const value = Object.fromEntries(members.filter(([, member]) => member !== undefined));
      return isPresent ? { value } : {};
    },
  },
  array: {
    input: 'group',
    type({ items }) {
      const { type } = recordOf(items);
      return typeof type === 'string' ? `array of ${type}` : 'array';
    },
    fill(value, schema, place, maker) {
      if (value !== undefined && !Array.isArray(value)) return null;
      const inner = below(place, listOf(value).length);
      const children = inner && listOf(value).map((item, index) => maker.item(schema, index, item, inner));
      return children && { isPresent: value !== undefined || place.isRequired, children };
    },
    read: ({ isPresent }, values) => (isPresent ? { value: values.map(value => value ?? null) } : {}),
  },
  variants: {
    input: 'chosen',
    type: () => 'one of',
    /** The variant of a value is guessed; if no variant fits, the whole value is edited as JSON. */
    fill(value, schema, place, maker) {
      const options = maker.variantsOf(schema);
      if (value === undefined) return { options };
      const fitting = options.flatMap((variant, at) => {
        const child = maker.variant(variant, value, { ...place, defaults: 'none' });
        const read = readFields(child);
        const keepsValue = read.faults.length === 0 && isDeepStrictEqual(read.value, value);
        return keepsValue ? [{ at, child, misfit: maker.misfit(child) }] : [];
      });
      const least = Math.min(...fitting.map(({ misfit }) => misfit));
      const best = fitting.find(({ misfit }) => misfit === least);
      return best ? { options, at: best.at, children: [best.child] } : null;
    },
    read: (_, [value]) => ({ value }),
  },
} as const satisfies Record<Kind, KindOfField>;

/** Schemas that exceed these limits are edited as JSON. Object values are compared one by one. */
const MAX = { depth: 12, parts: 32, variants: 20, values: 10_000, objects: 100, fields: 1_000 };

/** Maximum number of steps for all fields of a form: a schema may refer to itself many times (threats, row 22). */
const MAX_STEPS = 200_000;

const MAX_WEIGHT = 2_000;

/** Which values are filled in where none is given: every default, those of required fields, or none. */
export type Defaults = 'all' | 'required' | 'none';

/** The position of a field, and which defaults are filled in at and below it. */
interface Place extends Pick<Field, 'key' | 'isRequired' | 'isExtra'> {
  readonly depth: number;
  readonly room: number;
  readonly defaults: Defaults;
}

/** The place of a field that the user adds. */
const ADDED: Place = {
  key: null,
  isRequired: true,
  isExtra: false,
  depth: 1,
  room: MAX.fields,
  defaults: 'all',
};

/** Divides the room evenly between `count` fields. */
function below(place: Place, count: number): Place | null {
  const room = count === 0 ? 0 : Math.floor((place.room - count) / count);
  return room < 0 ? null : { ...place, room, depth: place.depth + 1 };
}

const EMPTY = { text: '', isPresent: false, options: [], at: null, children: [] };

/** Creates the fields of a schema in a bounded number of steps. */
export class FieldMaker {
  readonly #resolver: SchemaResolver;

  /** @param root the target of a `$ref` */
  constructor(private readonly root: Schema) {
    this.#resolver = new SchemaResolver(root, MAX_STEPS, MAX.parts);
  }

  /** The field of all arguments. */
  arguments(given: Readonly<Record<string, unknown>> | undefined, defaults: Defaults): Field {
    const described = { type: 'object', ...this.root };
    return this.field(described, given, { ...ADDED, depth: 0, defaults });
  }

  /** Creates the field for a schema and a value. A value that does not fit the schema is edited as JSON. */
  field(described: unknown, value: unknown, place: Place): Field {
    const schema = this.#resolver.resolve(described);
    const { key, isRequired, isExtra, defaults } = place;
    const takesDefault = defaults === 'all' || (defaults === 'required' && isRequired);
    const given = value === undefined && takesDefault ? defaultOf(schema) : value;
    const kind = this.#kindAt(schema, place);
    const filled = KINDS[kind].fill(given, schema, place, this);
    const empty = { ...EMPTY, key, isRequired, isExtra, schema };
    if (!filled) return { ...empty, kind: 'json', ...KINDS.json.fill(given) };
    return { ...empty, kind, ...filled, ...(kind === 'text' && { isPresent: given === '' }) };
  }

  /** An array item; it is sent even if it is empty. */
  item(array: Schema, key: number, value?: unknown, place = ADDED): Field {
    const field = this.field(array['items'], value, { ...place, key, isRequired: true, isExtra: true });
    return field.kind === 'text' ? { ...field, isPresent: true } : field;
  }

  /** An optional object that was absent. */
  added({ key, isRequired, isExtra, schema }: Field): Field {
    return { ...this.field(schema, {}, ADDED), key, isRequired, isExtra };
  }

  /** The properties that the schema names or requires, then the other properties of the value. Null if there are too many. */
  members(schema: Schema, value: Schema, place: Place): readonly Field[] | null {
    const properties = recordOf(schema['properties']);
    const required = new Set(listOf(schema['required']).filter(name => typeof name === 'string'));
    const named = new Set([...Object.keys(properties), ...required]);
    const names = [...new Set([...named, ...Object.keys(value)])];
    const inner = below(place, names.length);
    if (!inner) return null;
    return names.map(key => {
      const described = Object.hasOwn(properties, key) ? properties[key] : schema['additionalProperties'];
      const own = Object.hasOwn(value, key) ? value[key] : undefined;
      const [isRequired, isExtra] = [required.has(key), !named.has(key)];
      return this.field(described, own, { ...inner, key, isRequired, isExtra });
    });
  }

  /** The only child of a field with this variant chosen. */
  variant(variant: unknown, value?: unknown, place = ADDED): Field {
    const own = { key: null, isRequired: true, isExtra: false };
    return this.field(variant, value, { ...place, ...own, depth: place.depth + 1 });
  }

  kindOf(schema: Schema): Kind {
    if (valuesOf(schema).length > 0) return 'choice';
    if (this.variantsOf(schema).length > 0) return 'variants';
    const { type, items } = schema;
    const hasProperties = Object.keys(recordOf(schema['properties'])).length > 0;
    if (type === 'string') return 'text';
    if (type === 'number' || type === 'integer') return 'number';
    if (hasProperties && (type === undefined || type === 'object')) return 'object';
    const isArray = isRecord(items) && (type === undefined || type === 'array');
    return isArray && !('prefixItems' in schema) ? 'array' : 'json';
  }

  /** The root is an object even if the schema describes no property. */
  #kindAt(schema: Schema, { depth }: Place): Kind {
    const kind = depth > MAX.depth ? 'json' : this.kindOf(schema);
    return depth === 0 && kind === 'json' && schema['type'] === 'object' ? 'object' : kind;
  }

  /** The alternative schemas of a value; empty if the schema itself describes the value. */
  variantsOf(schema: Schema): readonly Schema[] {
    const { anyOf, oneOf, ...own } = schema;
    const { type: types } = schema;
    if (Array.isArray(types)) return types.slice(0, MAX.variants).map(type => ({ ...schema, type }));
    const open = [listOf(anyOf), listOf(oneOf)].find(list => list.length > 0) ?? [];
    if (open.length === 0 || open.length > MAX.variants) return [];
    const variants = open.map(variant => this.#resolver.resolve(variant));
    return isDescribed(own, variants) ? [] : variants.map(variant => this.#resolver.merge(variant, own));
  }

  /** A penalty for a value that does not fit the schema: high for a value of another kind, low for raw JSON and unknown properties. */
  misfit({ key, isExtra, kind, schema, children }: Field): number {
    const own = kind !== 'json' ? 0 : this.kindOf(schema) === 'json' ? 1 : WRONG;
    const inner = children.reduce((sum, each) => sum + this.misfit(each), 0);
    return own + inner + (isExtra && typeof key === 'string' ? 1 : 0);
  }
}

const WRONG = 100;

/** Whether variants can be ignored: the kind of the value is known, and no variant adds a property. */
function isDescribed(own: Schema, variants: readonly Schema[]): boolean {
  if (own['type'] !== undefined && own['type'] !== 'object') return true;
  const known = recordOf(own['properties']);
  const bringsProperty = (variant: Schema) =>
    Object.keys(recordOf(variant['properties'])).some(name => !Object.hasOwn(known, name));
  return Object.keys(known).length > 0 && !variants.some(bringsProperty);
}

function valuesOf(schema: Schema): readonly unknown[] {
  const { type, enum: listed } = schema;
  if ('const' in schema) return [schema['const']];
  if (Array.isArray(listed)) return canBeChosen(listed) ? listed : [];
  if (type === 'boolean') return [true, false];
  return type === 'null' ? [null] : [];
}

function canBeChosen(values: readonly unknown[]): boolean {
  if (values.length > MAX.values) return false;
  return values.length <= MAX.objects || values.every(value => typeof value !== 'object' || value === null);
}

function indexOfEqual(value: unknown, values: readonly unknown[]): number {
  if (typeof value !== 'object' || value === null) return values.indexOf(value);
  const wanted = compactJson(value);
  return values.findIndex(one => typeof one === 'object' && compactJson(one) === wanted);
}

function defaultOf(schema: Schema): unknown {
  const value = schema['default'];
  return weightOf(value, MAX_WEIGHT) > MAX_WEIGHT ? undefined : value;
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function readNumber(text: string, type: unknown): Reading {
  const value = Number(text);
  const isInteger = type === 'integer';
  const [kind, examples] = isInteger ? ['an integer', '42'] : ['a number', '42 or -0.5'];
  if (!NUMBER.test(text)) return { value: text, fault: `must be ${kind}, as ${examples}` };
  const fault = isInteger && !Number.isInteger(value) ? 'must be an integer' : lossyNumberNotes(text)[0];
  return fault === undefined ? { value } : { value: text, fault };
}

/** Parses typed JSON; a syntax error is reported with its line and column. */
function readJsonText(text: string): Reading {
  const { isTooDeep, notes } = diagnose(text);
  if (isTooDeep) return { value: text, fault: `is nested deeper than ${LIMITS.jsonDepth.value} levels` };
  const syntax = jsonFault(text);
  if (syntax)
    return { value: text, fault: `line ${syntax.line}, column ${syntax.column}: ${syntax.message}` };
  const [fault] = notes;
  return fault === undefined ? { value: JSON.parse(text) } : { value: text, fault };
}

const MAX_LENGTH = 200;

/** A value as shown in a choice: strings without quotes. Untrusted. */
export function choiceText(value: unknown): string {
  return truncate(typeof value === 'string' ? value : (compactJson(value) ?? ''), MAX_LENGTH);
}

/**
 * Reads a field, or all arguments: the value, and the faults in it.
 * @param demandsRequired whether missing required values count
 */
export function readFields(
  field: Field,
  demandsRequired = true,
  above: readonly (string | number)[] = [],
): { readonly value: unknown; readonly faults: readonly SchemaFault[] } {
  const { key, isRequired, kind, children } = field;
  const path = key === null ? above : [...above, key];
  const inner = children.map(child => readFields(child, demandsRequired, path));
  const { value, fault }: Reading = KINDS[kind].read(
    field,
    inner.map(each => each.value),
  );
  const isMissing = demandsRequired && isRequired && value === undefined;
  const message = fault ?? (isMissing ? 'is required' : null);
  const own = message === null ? [] : [{ path: jsonPath(path), message }];
  return { value, faults: [...own, ...inner.flatMap(({ faults }) => faults)] };
}
