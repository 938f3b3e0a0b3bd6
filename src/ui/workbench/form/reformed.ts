import { isDeepStrictEqual } from 'node:util';
import type { Schema } from '../../../json-schema/example/resolved.js';
import { isRecord } from '../../../text/is-record.js';
import { focusOn } from './focus.js';
import type { Form } from './form.js';
import { formOf } from './form-of.js';
import { sketchOf } from './sketch.js';

/** The form of an `inputSchema` that may have changed meanwhile, with what was typed; the same one where it has not. */
export function reformed(form: Form, schema: Schema): Form {
  if (isDeepStrictEqual(form.schema, schema)) return form;
  const typed = sketchOf(form.root);
  const fresh = formOf(schema, isRecord(typed) ? typed : {});
  return form.mode === 'raw' ? focusOn({ ...fresh, mode: 'raw', raw: form.raw }, 0) : fresh;
}
