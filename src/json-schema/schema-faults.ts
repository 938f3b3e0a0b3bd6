import type { ErrorObject } from 'ajv';
import { jsonPath } from '../util/values.js';
import { weightOf } from '../util/weight.js';

/** One error in a value: its place (a JSON path) and the violated rule. */
export interface SchemaFault {
  readonly path: string;
  readonly message: string;
}

/** Maximum number of listed errors; the others are counted. A value can have a million errors, each of which may quote the schema. */
const MAX_FAULTS = 100;

export function toFaults(errors: readonly ErrorObject[] | null | undefined): SchemaFault[] {
  const all = errors ?? [];
  const more = all.length - MAX_FAULTS;
  const shown = all.slice(0, MAX_FAULTS).map(toFault);
  return more > 0 ? [...shown, { path: '$', message: `has ${more} more faults` }] : shown;
}

function toFault({ instancePath, keyword, params, message = 'is not valid' }: ErrorObject): SchemaFault {
  const path = pointerToPath(instancePath);
  const named = (name: unknown) => `${path}${jsonPath([String(name)]).slice(1)}`;
  switch (keyword) {
    case 'required':
      return { path: named(params['missingProperty']), message: 'is required' };
    case 'additionalProperties':
      return {
        path: named(params['additionalProperty']),
        message: 'is not an allowed property',
      };
    case 'enum':
      return { path, message: `must be one of ${listed(params['allowedValues'])}` };
    case 'const':
      return { path, message: `must be ${quoted(params['allowedValue'])}` };
    case 'format': {
      const format = String(params['format']);
      return {
        path,
        message: `does not look like ${/^[aeio]/.test(format) ? 'an' : 'a'} ${format} (format)`,
      };
    }
    default:
      return { path, message: `${message} (${keyword})` };
  }
}

/** Maximum number of allowed values in a message. */
const MAX_VALUES = 50;

/** Maximum size of a quoted value. */
const MAX_WEIGHT = 50;

function listed(values: unknown): string {
  if (!Array.isArray(values)) return 'the allowed values';
  const shown = values.slice(0, MAX_VALUES).map(quoted);
  const more = values.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function quoted(value: unknown): string {
  if (weightOf(value, MAX_WEIGHT) <= MAX_WEIGHT) return JSON.stringify(value);
  return 'a value that is too long to show';
}

/** Converts a JSON Pointer (RFC 6901) to the same notation. */
function pointerToPath(pointer: string): string {
  const steps = pointer
    .split('/')
    .slice(1)
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return jsonPath(steps.map(part => (/^\d+$/.test(part) ? Number(part) : part)));
}
