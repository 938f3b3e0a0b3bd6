import type { Field } from './field.js';
import { sketchOf } from './sketch.js';
import type { Typing } from './typing.js';

/** What the fields hold as JSON for the hand, the cursor at its start. */
export function rawOf(root: Field): Typing {
  return { text: JSON.stringify(sketchOf(root) ?? {}, null, 2), cursor: 0 };
}
