import { unacceptable } from '../evidence/unacceptable.js';
import type { Rule } from '../rule.js';
import { onRefusable } from './shared/refusals.js';

/** TOOL-BAD-ARGS: 200, and then an error result. */
export const refusesBadArguments: Rule = {
  id: 'TOOL-BAD-ARGS',
  absent: 'no operation was called with arguments that break its inputSchema',
  observe: evidence =>
    evidence.calls
      .filter(call => unacceptable(call, evidence) === 'bad-arguments')
      .flatMap(call => onRefusable(call, 'a call with broken arguments')),
};
