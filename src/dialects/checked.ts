import type * as z from 'zod/mini';
import { type Validation, validate } from '../protocol/validate.js';
import { isRecord } from '../text/is-record.js';
import { MAX_DEPTH } from '../text/json-diagnosis.js';

/** Of what is wrong; whoever mends these finds the others. */
const MOST_FAULTS = 8;

/** A foreign message against the schema of its wire: its depth too, since what is read may be written again (threats, row 18). */
export function checked<Schema extends z.ZodMiniType>(
  schema: Schema,
  native: unknown,
): Validation<z.infer<Schema>> {
  if (isTooDeep(native)) return { ok: false, faults: [`$: is nested deeper than ${MAX_DEPTH} levels`] };
  const validation = validate(schema, native);
  return validation.ok ? validation : { ok: false, faults: few(validation.faults) };
}

/** What a message has beside the fields that are known, for which no other wire has a place; undefined where it has none. */
export function otherFields(
  native: unknown,
  known: readonly string[],
): Readonly<Record<string, unknown>> | undefined {
  const others = Object.entries(isRecord(native) ? native : {}).filter(([key]) => !known.includes(key));
  return others.length > 0 ? Object.fromEntries(others) : undefined;
}

function isTooDeep(value: unknown): boolean {
  const open: [value: unknown, depth: number][] = [[value, 0]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [each, depth] = next;
    if (typeof each !== 'object' || each === null) continue;
    if (depth >= MAX_DEPTH) return true;
    for (const inner of Object.values(each)) open.push([inner, depth + 1]);
  }
  return false;
}

function few(faults: readonly string[]): string[] {
  const rest = faults.length - MOST_FAULTS;
  return rest > 0 ? [...faults.slice(0, MOST_FAULTS), `and ${rest} more`] : [...faults];
}
