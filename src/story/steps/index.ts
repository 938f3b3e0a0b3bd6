import type { History } from '../../exchange/history.js';
import { callSteps } from './call.js';
import { errandSteps, straySteps } from './errands.js';
import { labelled } from './label.js';
import { loadedStep } from './loaded.js';
import type { Step } from './step.js';

export { newStepsOf } from './new-steps.js';
export type { Step } from './step.js';

/**
 * What has happened, in the order in which it did. The last step may be running: its time is still going.
 * @param latest this many steps from the end, and no more work than they make
 */
export function stepsOf(history: History, { latest = Number.POSITIVE_INFINITY } = {}): Step[] {
  const { exchanges, errands, toolsets } = history;
  const steps = [
    ...toolsets.map(toolset => loadedStep(history, toolset)),
    ...[...exchanges.values()].flatMap(each => labelled(history, each.key, callSteps(each, latest))),
    ...[...errands.values()].flatMap(each => labelled(history, each.calls[0], errandSteps(history, each))),
    ...straySteps(errands.values()),
  ];
  return steps.sort(inOrder).slice(-latest);
}

function inOrder(a: Step, b: Step): number {
  return Number(a.state === 'running') - Number(b.state === 'running') || a.at - b.at;
}
