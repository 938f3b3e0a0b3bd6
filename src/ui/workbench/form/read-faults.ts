import type { SchemaFault } from '../../../json-schema/fault.js';
import { jsonPath } from '../../../text/json-path.js';
import type { Child, Field } from './field.js';
import { readText } from './read-text.js';
import { sketchOf } from './sketch.js';

type Path = readonly (string | number)[];

/** What can be no value at all, and what is required and empty; each at its path. */
export function faultsIn({ key, field, isRequired }: Child, above: Path = []): readonly SchemaFault[] {
  const path = key === null ? above : [...above, key];
  const own = faultOf(field, isRequired);
  const inner = 'children' in field ? field.children.flatMap(child => faultsIn(child, path)) : [];
  return own === null ? inner : [{ path: jsonPath(path), message: own }, ...inner];
}

function faultOf(field: Field, isRequired: boolean): string | null {
  if ('text' in field) {
    const read = readText(field);
    if (!read.ok) return read.message;
  }
  return isRequired && sketchOf(field) === undefined ? 'is required' : null;
}
