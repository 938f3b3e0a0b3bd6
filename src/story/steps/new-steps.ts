import type { Event } from '../../exchange/events.js';
import type { History } from '../../exchange/history.js';
import { newCallSteps } from './call.js';
import { errandSteps, newStraySteps } from './errands.js';
import { labelled } from './label.js';
import { loadedStep } from './loaded.js';
import type { Step } from './step.js';

/**
 * The steps that an event brings to an end; the history has it already. Told one event after the other they are what `stepsOf` tells
 * at the end, at a price that does not grow with what came before.
 * @param isPrivate whether nobody but the user sees it; else URLs that give power are cut. `isOfMany`: there are several calls, though
 *   the history may not have them yet
 */
export function newStepsOf(
  history: History,
  event: Event,
  { isPrivate = true, isOfMany = history.exchanges.size > 1 } = {},
): Step[] {
  const toolset = event.kind === 'loaded' ? history.toolsets.at(-1) : undefined;
  return [
    ...(toolset ? [loadedStep(history, toolset)] : []),
    ...concerned(history, event).flatMap(key => {
      const exchange = history.exchanges.get(key);
      return exchange ? labelled(history, key, newCallSteps(exchange, event, isPrivate), isOfMany) : [];
    }),
    ...newErrandSteps(history, event, isOfMany),
  ];
}

/** Keys of calls. A notice that a thread is over concerns all of its calls. */
function concerned({ threads }: History, event: Event): readonly string[] {
  const isClose = event.kind === 'request' && event.purpose === 'close';
  const thread = isClose && event.thread !== undefined ? threads.get(event.thread) : undefined;
  return thread?.calls ?? event.calls ?? [];
}

function newErrandSteps(history: History, event: Event, isOfMany: boolean): Step[] {
  if (event.kind !== 'response' && event.kind !== 'broken') return [];
  const errand = history.errands.get(event.leg);
  if (!errand) return [];
  const steps = labelled(history, errand.calls[0], errandSteps(history, errand), isOfMany);
  return [...steps, ...newStraySteps(history.errands.values(), errand)];
}
