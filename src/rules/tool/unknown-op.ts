import { unacceptable } from '../evidence/unacceptable.js';
import type { Rule } from '../rule.js';
import { onRefusable } from './shared/refusals.js';

/** TOOL-UNKNOWN-OP: 200, and then an error result. */
export const refusesUnknownOperations: Rule = {
  id: 'TOOL-UNKNOWN-OP',
  absent: 'no operation was called that is not in the toolset',
  observe: evidence =>
    evidence.calls
      .filter(call => unacceptable(call, evidence) === 'unknown-operation')
      .flatMap(call => onRefusable(call, 'an unknown operation')),
};
