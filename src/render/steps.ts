import type { Event } from '../events/events.js';
import type { History } from '../events/history.js';
import { callSteps } from './call-steps.js';
import { loadedStep, requestSteps } from './request-steps.js';
import { labelledStep, type Step } from './step.js';

interface StepOptions {
  /** Only the user sees the steps; otherwise URLs that grant access are cut. */
  readonly isPrivate?: boolean;
  /** There are several calls, even if the history does not have them yet. */
  readonly isOfMany?: boolean;
}

/** The steps that an event completes; the history must have the event. The cost does not grow with the history. */
export function newStepsOf(
  history: History,
  event: Event,
  { isPrivate = true, isOfMany = history.exchanges.size > 1 }: StepOptions = {},
): Step[] {
  const ofCalls = concernedKeys(history, event).flatMap(key => {
    const exchange = history.exchanges.get(key);
    const steps = exchange ? callSteps(exchange, event, isPrivate) : [];
    return steps.map(step => labelledStep(step, exchange, isOfMany));
  });
  return [
    ...(event.kind === 'loaded' ? [loadedStep(history, event)] : []),
    ...ofCalls,
    ...requestSteps(history, event, isOfMany),
  ];
}

/** The keys of the calls that an event concerns. Closing a thread concerns all of its calls. */
function concernedKeys({ threads }: History, event: Event): readonly string[] {
  const isClose = event.kind === 'request' && event.purpose === 'close';
  const thread = isClose && event.thread !== undefined ? threads.get(event.thread) : undefined;
  return thread?.calls ?? event.calls ?? [];
}
