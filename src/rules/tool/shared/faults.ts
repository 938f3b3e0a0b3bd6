import { cut } from '../../../text/cut.js';
import { visibleLine } from '../../../text/visible.js';
import type { Difference } from '../../observation.js';

/** Characters of one. */
const MOST = 300;

/** What is wrong with a document or a message, each fault by itself: short, and safe to print. */
export function withFaults(faults: readonly string[]): Pick<Difference, 'faults'> {
  return { faults: faults.map(fault => cut(visibleLine(fault), MOST)) };
}
