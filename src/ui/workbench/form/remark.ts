import { unlike } from '../../../json-schema/fault.js';
import { looksLike } from '../../../json-schema/formats.js';
import { onceEach } from '../../../text/once-each.js';
import type { Field } from './field.js';

/** What strikes one about a text, though nothing is wrong with it: `format` is an annotation. Foreign words. Null where nothing does. */
export const remarkOn = onceEach((field: Field): string | null => {
  const { format } = field.schema;
  const isOfFormat = field.kind === 'text' && field.text !== '' && typeof format === 'string';
  return isOfFormat && !looksLike(field.text, format) ? unlike(format) : null;
});
