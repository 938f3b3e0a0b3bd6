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
    if (event.kind !== 'request') this.#showAnswer(event);
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
    const { exchange, arrival } = arrivalOf(this.history, event) ?? {};
    if (!exchange || !arrival || arrival.status === arrival.verdict.status) return;
    const index = this.#steps.findLastIndex(({ leg }) => leg === arrival.leg);
    if (index < 0) return;
    const isOfMany = this.history.exchanges.size > 1;
    this.#steps[index] = labelledStep(arrivalStep(exchange, arrival), exchange, isOfMany);
  }
}
