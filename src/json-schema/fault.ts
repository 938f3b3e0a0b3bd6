import type { ErrorObject } from 'ajv';
import { jsonPath, pointerToPath } from '../text/json-path.js';

/** One thing wrong with a value: where (a JSON path) and which rule it breaks. */
export interface SchemaFault {
  readonly path: string;
  readonly message: string;
}

export function toFaults(errors: readonly ErrorObject[] | null | undefined): SchemaFault[] {
  return (errors ?? []).map(toFault);
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
        message: 'is not one of the properties allowed here',
      };
    case 'enum':
      return { path, message: `must be one of ${listed(params['allowedValues'])}` };
    case 'const':
      return { path, message: `must be ${JSON.stringify(params['allowedValue'])}` };
    case 'format':
      return { path, message: unlike(String(params['format'])) };
    default:
      return { path, message: `${message} (${keyword})` };
  }
}

/** That a value is none of a format. */
export function unlike(format: string): string {
  return `does not look like ${/^[aeio]/.test(format) ? 'an' : 'a'} ${format} (format)`;
}

function listed(values: unknown): string {
  return Array.isArray(values) ? values.map(value => JSON.stringify(value)).join(', ') : 'the allowed values';
}
