import type { Format } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { bounded } from '../text/bounded.js';
import { isRecord } from '../text/is-record.js';

// Statically imported here, lazily by whoever makes a call.

/** Every `format` that JSON Schema names, and a few more, as ajv has them. */
export const FORMATS: Readonly<Record<string, Format>> = fullFormats;

/** Characters: what is longer is none of these, and some of their patterns take their time over it (threats, row 22). */
const LONGEST = 300;

/** Whether a text looks as a format says; also where that is not known, and where it cannot be told in time. */
export function looksLike(text: string, format: string): boolean {
  if (!Object.hasOwn(FORMATS, format) || text.length > LONGEST) return true;
  try {
    return bounded(() => accepts(FORMATS[format], text));
  } catch {
    return true;
  }
}

function accepts(format: unknown, text: string): boolean {
  if (format instanceof RegExp) return format.test(text);
  if (typeof format === 'function') return Boolean(format(text));
  const isOfNumbers = !isRecord(format) || format['type'] === 'number';
  return isOfNumbers || accepts(format['validate'], text);
}
