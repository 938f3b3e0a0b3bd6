import { MAX_DEPTH } from '../../text/json-diagnosis.js';

/** What `JSON.stringify` would write: a date, for one, is its text. */
export function asJson(value: object): unknown {
  return 'toJSON' in value && typeof value.toJSON === 'function' ? value.toJSON() : value;
}

/** @throws RangeError where a value has more than 128 levels (threats, row 18), be it because it holds itself. */
export function checkDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw new RangeError(`a value is nested deeper than ${MAX_DEPTH} levels`);
}
