import type { CallEvidence, Evidence } from '../evidence/evidence.js';
import { broken, held, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';
import { sent } from '../spot.js';

/** RT-ARGS: what is dispatched is valid against its tool's `inputSchema`. */
export const validatesArguments: Rule = {
  id: 'RT-ARGS',
  absent: 'no arguments could be checked against an inputSchema',
  observe: ({ calls }: Evidence) => calls.flatMap(onCall),
};

function onCall({ argumentFaults, attempts, tool }: CallEvidence): Observation[] {
  if (argumentFaults === null || !tool) return [];
  const first = attempts.slice(0, 1);
  const spots = first.map(attempt => sent(attempt, 'arguments'));
  if (argumentFaults.length === 0) return [held(first)];
  return [
    broken(`the arguments break the inputSchema of ${tool.name}: ${argumentFaults[0]}`, first, { spots }),
  ];
}
