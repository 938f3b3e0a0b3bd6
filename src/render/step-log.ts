import type { Event } from '../events/events.js';
import type { History } from '../events/history.js';
import { arrivalOf, arrivalStep } from './callbacks.js';
import { runningSteps } from './open-steps.js';
import { labelledStep, type Step } from './step.js';
import { newStepsOf } from './steps.js';

/** Collects the steps of a conversation from its events. */
export class StepLog {
  readonly #steps: Step[] = [];

  /** @param max number of steps kept; unlimited for files */
  constructor(
    private readonly history: History,
    private readonly max = Number.POSITIVE_INFINITY,
  ) {}

  /** @param event already in the history */
  add(event: Event): void {
    for (const each of newStepsOf(this.history, event)) this.#steps.push(each);
    this.#showAnswer(event);
    if (this.#steps.length > 2 * this.max) this.#steps.splice(0, this.max);
  }

  /** The steps that ended. */
  get ended(): readonly Step[] {
    return this.#steps;
  }

  /** The last `count` steps; running ones come last. */
  latest(count: number): readonly Step[] {
    return [...this.#steps, ...runningSteps(this.history)].slice(-count);
  }

  /** Updates the step of a callback when its recorded answer arrives. */
  #showAnswer(event: Event): void {
    const answered = answeredStep(this.history, event);
    const index = answered ? this.#steps.findLastIndex(({ leg }) => leg === answered.leg) : -1;
    if (answered && index >= 0) this.#steps[index] = answered;
  }
}

/** The step of a callback that this event answered, if not as this program would; it replaces the step of its request. */
export function answeredStep(history: History, event: Event): Step | null {
  const { exchange, arrival } = (event.kind !== 'request' && arrivalOf(history, event)) || {};
  if (!exchange || !arrival || arrival.status === arrival.verdict.status) return null;
  return labelledStep(arrivalStep(exchange, arrival), exchange, history.exchanges.size > 1);
}
