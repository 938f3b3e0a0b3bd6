import type { Schema } from '../../../json-schema/example/resolved.js';

interface Described {
  /** With what it refers to in it. */
  readonly schema: Schema;
}

/** Something typed: a string as it is, the digits of a number, JSON of any kind. */
export interface TextField extends Described {
  readonly kind: 'text' | 'number' | 'json';
  readonly text: string;
  /** An empty string is a value too; else what is empty is left out. */
  readonly sendsEmpty: boolean;
}

/** One of a few values. */
export interface ChoiceField extends Described {
  readonly kind: 'choice';
  readonly values: readonly unknown[];
  /** Null where none was chosen. */
  readonly at: number | null;
}

/** A value that holds others. */
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
  /** Of no property that the schema names, or an item: it can be taken out as a whole. */
  readonly isExtra: boolean;
  readonly field: Field;
}

export function childrenOf(field: Field): readonly Child[] {
  return 'children' in field ? field.children : [];
}

/** The tree with another field at an address (indexes of children, from the root down). */
export function withField(root: Field, address: readonly number[], change: (field: Field) => Field): Field {
  const [first, ...rest] = address;
  if (first === undefined) return change(root);
  if (!('children' in root)) return root;
  const children = root.children.map((child, index) =>
    index === first ? { ...child, field: withField(child.field, rest, change) } : child,
  );
  return { ...root, children };
}
