import type { Format } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';

/** The formats that are checked: those of JSON Schema, and ajv's additional ones. A mismatch is a warning, not an error. */
export const FORMATS: Readonly<Record<string, Format>> = fullFormats;
