import { firstFew } from '../text/first-few.js';
import type { Observation } from './observation.js';

/** More kinds than these, and more names of one, are counted. */
const TOLD = 3;

/** What was seen: each kind once, with the first of the names that alone tell one of it from the other. */
export function reasonOf(observations: readonly Observation[]): string {
  const told = [...namesByKind(observations)].map(([what, names]) => saying(what, [...names]));
  const rest = told.length - TOLD;
  if (told.length === 0) return `seen ${observations.length === 1 ? 'once' : `${observations.length} times`}`;
  return told.slice(0, TOLD).join('; ') + (rest > 0 ? `; and ${rest} more` : '');
}

function namesByKind(observations: readonly Observation[]): ReadonlyMap<string, ReadonlySet<string>> {
  const kinds = new Map<string, Set<string>>();
  for (const each of observations) {
    if (each.what === undefined) continue;
    const names = kinds.get(each.what) ?? new Set();
    kinds.set(each.what, names);
    if ('name' in each && each.name !== undefined) names.add(each.name);
  }
  return kinds;
}

function saying(what: string, names: readonly string[]): string {
  return names.length === 0 ? what : `${what}: ${firstFew(names, TOLD)}`;
}
