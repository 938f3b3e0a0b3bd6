import type { Child, Field, GroupField } from './field.js';
import { readText } from './read-text.js';

/** The value as far as it is one: what is no value yet is there as the text that was typed. Undefined where there is none. */
export function sketchOf(field: Field): unknown {
  switch (field.kind) {
    case 'choice':
      return field.at === null ? undefined : field.values[field.at];
    case 'variants':
      return field.children[0] && sketchOf(field.children[0].field);
    case 'object':
    case 'array':
      return field.isPresent ? groupOf(field) : undefined;
    default: {
      const read = readText(field);
      return read.ok ? read.value : field.text;
    }
  }
}

function groupOf({ kind, children }: GroupField): unknown {
  if (kind === 'array') return children.map(({ field }) => sketchOf(field) ?? null);
  return membersOf(children, sketchOf);
}

/** Own members whatever their names are (threats, row 19); what is absent is left out. */
export function membersOf(
  children: readonly Child[],
  read: (field: Field) => unknown,
): Record<string, unknown> {
  const members = children.map(({ key, field }) => [String(key), read(field)] as const);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}
