import { type Context, createContext, Script } from 'node:vm';
import { lastUpTo } from './strings-in.js';

/** Default time limit in milliseconds. */
const VALUE_MS = 250;

/** Thrown when work on a foreign schema exceeds its time limit. */
export class OutOfTime extends Error {
  constructor(limitMs: number) {
    super(`took longer than ${limitMs} ms`);
  }
}

const callWork = new Script('work()');
let room: Context | undefined;

/**
 * Runs synchronous work under a time limit, since a foreign `pattern` can run practically forever (threats, row 22). Only the watchdog
 * of `node:vm` can stop it within the process; nothing foreign is evaluated.
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
 * As {@link bounded}, with a second try after a timeout: the watchdog measures wall time, which may pass without us on a busy machine.
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
  // The error comes from the other context, so `instanceof Error` fails.
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}

/** Characters of text that count as one value. */
const CHARACTERS = 64;

/** The size of a JSON value: one per value, and one per 64 characters. Stops counting beyond `most`. */
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

/** Caches the last value by its inputs. */
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

/** A sequence of parts with different lengths. */
export interface Offsets {
  /** The sum of all lengths. */
  readonly total: number;
  /** The start of each part. */
  readonly starts: Uint32Array;
  lengthOf(which: number): number;
  /** The part that contains a place, and the offset in it; -1 if outside. */
  locate(place: number): { readonly which: number; readonly at: number };
}

/** Adds up once, then searches by bisection. */
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
