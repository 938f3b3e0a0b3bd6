import type { Child, Field } from './field.js';
import { readText } from './read-text.js';

/** The value as far as it is one: what is no value yet is there as the text that was typed. Undefined where there is none. */
export function sketchOf(field: Field): unknown {
  return assembled(field, child => sketchOf(child.field));
}

/** The value of a field, those in it as `read` has them. */
export function assembled(field: Field, read: (child: Child) => unknown): unknown {
  switch (field.kind) {
    case 'choice':
      return field.at === null ? undefined : field.values[field.at];
    case 'variants':
      return field.children[0] && read(field.children[0]);
    case 'object':
      return field.isPresent ? membersOf(field.children, read) : undefined;
    case 'array':
      return field.isPresent ? field.children.map(child => read(child) ?? null) : undefined;
    default: {
      const reading = readText(field);
      return reading.ok ? reading.value : field.text;
    }
  }
}

/** Own members whatever their names are (threats, row 19); what is absent is left out. */
function membersOf(children: readonly Child[], read: (child: Child) => unknown): Record<string, unknown> {
  const members = children.map(child => [String(child.key), read(child)] as const);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}
