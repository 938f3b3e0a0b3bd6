import { type Context, createContext, Script } from 'node:vm';
import { lastUpTo } from './strings-in.js';

/** For a value against a schema, in milliseconds. */
const VALUE_MS = 250;

/** Thrown where work on a foreign schema took longer than the limit. */
export class OutOfTime extends Error {
  constructor(limitMs: number) {
    super(`took longer than ${limitMs} ms`);
  }
}

const callWork = new Script('work()');
let room: Context | undefined;

/**
 * Runs synchronous work under a time limit: a foreign `pattern` can take longer than anybody lives (threats, row 22).
 * The watchdog of `node:vm` is the one way to stop it from within the process; nothing foreign is evaluated.
 */
export function bounded<T>(work: () => T, limitMs = VALUE_MS): T {
  const results: T[] = [];
  room ??= createContext(Object.create(null));
  room['work'] = () => {
    results.push(work());
  };
  try {
    callWork.runInContext(room, { timeout: limitMs });
  } catch (error) {
    throw isTimeout(error) ? new OutOfTime(limitMs) : error;
  }
  return results[0] as T;
}

/**
 * As {@link bounded}, and once more where time ran out: the watchdog counts it by the wall, and on a busy machine it may have
 * passed without us.
 */
export function patientlyBounded<T>(work: () => T): T {
  try {
    return bounded(work);
  } catch (error) {
    if (error instanceof OutOfTime) return bounded(work);
    throw error;
  }
}

function isTimeout(error: unknown): boolean {
  // Made in the other context, it is no `instanceof` our `Error`.
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}

/** Characters of a text that weigh as much as one value. */
const CHARACTERS = 64;

/** How much a JSON value holds: one for each value in it, and one more for each 64 characters. Stops counting beyond `most`. */
export function weightOf(value: unknown, most: number): number {
  const waiting: unknown[] = [value];
  let weight = 0;
  while (waiting.length > 0 && weight <= most) {
    const next = waiting.pop();
    weight++;
    if (typeof next === 'string') weight += Math.floor(next.length / CHARACTERS);
    if (typeof next !== 'object' || next === null) continue;
    const parts = Array.isArray(next) ? next : Object.values(next);
    if (weight + parts.length > most) return weight + parts.length;
    for (const part of parts) waiting.push(part);
  }
  return weight;
}

/** Keeps what was made last, as long as it would be made of the same. */
export class Memo<Value> {
  #kept: { readonly from: readonly unknown[]; readonly value: Value } | null = null;

  of(from: readonly unknown[], make: () => Value): Value {
    if (!this.#kept || !isSame(this.#kept.from, from)) this.#kept = { from, value: make() };
    return this.#kept.value;
  }
}

function isSame(before: readonly unknown[], now: readonly unknown[]): boolean {
  return before.length === now.length && before.every((each, index) => Object.is(each, now[index]));
}

/** Things of different lengths, one after the other. */
export interface Offsets {
  /** Of all together. */
  readonly total: number;
  /** Where each begins. */
  readonly starts: Uint32Array;
  lengthOf(which: number): number;
  /** Which of them this place is in, and where in it; -1 where it is in none. */
  locate(place: number): { readonly which: number; readonly at: number };
}

/** Adds up once, then finds by halving. */
export function offsetsOf(lengths: readonly number[]): Offsets {
  const starts = new Uint32Array(lengths.length);
  let total = 0;
  for (const [which, length] of lengths.entries()) {
    starts[which] = total;
    total += length;
  }
  return {
    total,
    starts,
    lengthOf: which => lengths[which] ?? 0,
    locate(place) {
      const which = place < total ? lastUpTo(starts, place) : -1;
      return { which, at: place - (starts[which] ?? 0) };
    },
  };
}
