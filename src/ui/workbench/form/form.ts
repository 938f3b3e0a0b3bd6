import type { Key } from 'ink';
import type { Schema } from '../../../json-schema/example/resolved.js';
import type { SchemaFault } from '../../../json-schema/fault.js';
import type { Field } from './field.js';
import type { Typing } from './typing.js';

/** Arguments as they are being filled in: a value, never changed. */
export interface Form {
  /** The `inputSchema`. */
  readonly schema: Schema;
  readonly mode: 'fields' | 'raw';
  readonly root: Field;
  /** The whole as JSON, while that is written by hand. */
  readonly raw: Typing;
  /** Which stop, from the top; the one after the last is `Run`. */
  readonly focus: number;
  /** Where in the text of the focused field, in UTF-16 units. */
  readonly cursor: number;
  readonly faults: readonly SchemaFault[];
}

/** A key press as Ink tells it. */
export interface Press {
  readonly input: string;
  readonly key: Key;
}
