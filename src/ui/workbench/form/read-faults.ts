import { exampleOf } from '../../../json-schema/example/example.js';
import { roomFor, type Schema } from '../../../json-schema/example/resolved.js';
import type { SchemaFault } from '../../../json-schema/fault.js';
import { jsonPath } from '../../../text/json-path.js';
import type { Child } from './field.js';
import { readText } from './read-text.js';
import { assembled, sketchOf } from './sketch.js';

type Path = readonly (string | number)[];

/** What is wrong with a field by itself; null where nothing is. */
type Judge = (child: Child) => string | null;

/** What can be no value at all. */
export function unreadable({ field }: Child): string | null {
  const reading = 'text' in field ? readText(field) : null;
  return reading?.ok === false ? reading.message : null;
}

/** The same, and what is required and empty. */
export function unfilled(child: Child): string | null {
  const isMissing = child.isRequired && sketchOf(child.field) === undefined;
  return unreadable(child) ?? (isMissing ? 'is required' : null);
}

/** What is wrong with a field and those in it, each at its path. */
export function faultsIn(child: Child, judge: Judge, above: Path = []): readonly SchemaFault[] {
  const { key, field } = child;
  const path = key === null ? above : [...above, key];
  const own = judge(child);
  const inner = 'children' in field ? field.children.flatMap(each => faultsIn(each, judge, path)) : [];
  return own === null ? inner : [{ path: jsonPath(path), message: own }, ...inner];
}

/** Values that may stand in; of what is beyond, null does. */
const MOST_VALUES = 5_000;

/**
 * What its schema can judge of a value that has faults: where one is, an example of what is taken there stands in.
 * @param root where a `$ref` points into
 */
export function standIn(child: Child, root: Schema, room = roomFor(MOST_VALUES)): unknown {
  const { field } = child;
  return unfilled(child) === null
    ? assembled(field, each => standIn(each, root, room))
    : exampleOf(field.schema, { root, room });
}
