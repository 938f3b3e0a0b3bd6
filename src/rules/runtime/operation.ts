import { excerpt } from '../../text/excerpt.js';
import { toolsetsAt } from '../evidence/discoveries.js';
import type { CallEvidence, Evidence } from '../evidence/evidence.js';
import { held, lacking, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';
import { sent } from '../spot.js';

/** RT-OP: what is dispatched is in a toolset that was loaded before. */
export const dispatchesLoadedOperations: Rule = {
  id: 'RT-OP',
  absent: 'no invocation came after a toolset was loaded',
  observe: ({ calls, discoveries }: Evidence) =>
    calls.flatMap(call => {
      const [first] = call.attempts;
      if (!first || toolsetsAt(discoveries, first.request.at).length === 0) return [];
      return onCall(call);
    }),
};

function onCall({ reading, tool, attempts }: CallEvidence): Observation[] {
  if (!reading.ok) return [];
  const { operation } = reading.invocation;
  const first = attempts.slice(0, 1);
  const spots = first.map(attempt => sent(attempt, 'operation'));
  return [
    tool ? held(first) : lacking(`${excerpt(operation)} is in no toolset that was loaded`, first, { spots }),
  ];
}
