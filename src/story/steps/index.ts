import type { History } from '../../exchange/history.js';
import { callSteps } from './call.js';
import { errandSteps, straySteps } from './errands.js';
import { loadedStep } from './loaded.js';
import type { Step } from './step.js';

export type { Step } from './step.js';

/** What has happened, in the order in which it did. The last step may be running: its time is still going. */
export function stepsOf(history: History): Step[] {
  const exchanges = [...history.exchanges.values()];
  return [
    ...history.toolsets.map(loadedStep(history)),
    ...exchanges.flatMap(exchange => callSteps(exchange)),
    ...[...history.errands.values()].flatMap(errandSteps),
    ...straySteps(history.errands.values()),
  ].sort((a, b) => Number(a.state === 'running') - Number(b.state === 'running') || a.at - b.at);
}
