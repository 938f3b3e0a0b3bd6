import { cut } from '../../../text/cut.js';
import { firstFew } from '../../../text/first-few.js';
import { visibleLine } from '../../../text/visible.js';
import type { Difference } from '../../observation.js';

/** Characters of one. */
const MOST = 300;

/** What is wrong with a document or a message, each fault by itself: short, and safe to print. */
export function withFaults(faults: readonly string[]): Pick<Difference, 'faults'> {
  return { faults: faults.map(fault => cut(visibleLine(fault), MOST)) };
}

/** Paths that one remark names. */
const MOST_PATHS = 3;

/** One remark on optional members that are null. */
export function nullRemark(nulls: readonly string[] = []): readonly string[] {
  if (nulls.length === 0) return [];
  const paths = firstFew(nulls, MOST_PATHS);
  return [cut(`null for an optional member counts as absent, better leave it out: ${paths}`, MOST)];
}
