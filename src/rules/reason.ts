import { firstFew, firstOf } from '../text/first-few.js';
import type { Observation } from './observation.js';

/** More kinds than these, and more names or faults of one, are counted. */
const TOLD = 3;
/** Of faults, where each has a line of its own. */
const LINES = 10;

/** What was seen. */
export interface Reason {
  readonly reason: string;
  /** The same on several lines, for where there is room. */
  readonly reasonLines?: readonly string[];
}

/** Observations that say the same. */
interface Kind {
  readonly what: string;
  readonly names: Set<string>;
  readonly faults: Set<string>;
}

/** Each kind once, with the first of the names that alone tell one of it from the other, and of what is wrong with it. */
export function reasonOf(observations: readonly Observation[]): Reason {
  const kinds = kindsOf(observations);
  if (kinds.length === 0)
    return { reason: `seen ${observations.length === 1 ? 'once' : `${observations.length} times`}` };
  const sentences = firstOf(kinds.map(sentenceOf), TOLD);
  const reasonLines = [...kinds.slice(0, TOLD).flatMap(linesOf), ...sentences.slice(TOLD)];
  return { reason: sentences.join('; '), ...(reasonLines.length > 1 && { reasonLines }) };
}

function kindsOf(observations: readonly Observation[]): readonly Kind[] {
  const kinds = new Map<string, Kind>();
  for (const each of observations) {
    if (each.what === undefined) continue;
    const kind = kinds.get(each.what) ?? { what: each.what, names: new Set(), faults: new Set() };
    kinds.set(each.what, kind);
    if ('name' in each && each.name !== undefined) kind.names.add(each.name);
    if ('faults' in each) for (const fault of each.faults ?? []) kind.faults.add(fault);
  }
  return [...kinds.values()];
}

function sentenceOf(kind: Kind): string {
  const { faults } = kind;
  const what = namedOf(kind);
  return faults.size === 0 ? what : `${what}: ${firstOf([...faults], TOLD).join('; ')}`;
}

/** A heading and what stands below it; of a single fault one line. */
function linesOf(kind: Kind): readonly string[] {
  if (kind.faults.size < 2) return [sentenceOf(kind)];
  return [`${namedOf(kind)}:`, ...firstOf([...kind.faults], LINES).map(fault => `  ${fault}`)];
}

function namedOf({ what, names }: Kind): string {
  return names.size === 0 ? what : `${what}: ${firstFew([...names], TOLD)}`;
}
