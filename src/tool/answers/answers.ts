import type { Remembered } from '../../fixtures/fixture-state.js';
import type { StepPath } from '../../fixtures/step.js';
import type { Call } from '../conversation/call.js';
import type { HandlerAnswers } from '../handlers/handler-answers.js';
import type { FixtureAnswers } from './fixture-answers.js';
import type { Operations } from './operations.js';
import { type Plan, plain, refusal } from './plan.js';

/** Whoever can answer calls: what is over the rate or breaks the schema first, then code, then fixtures. */
export interface AnswersParts {
  readonly operations: Operations;
  readonly handlers: HandlerAnswers;
  readonly fixtures: FixtureAnswers;
  /** Milliseconds to wait; 0 where a call may go on. */
  readonly waitFor: () => number;
}

export class Answers {
  constructor(private readonly parts: AnswersParts) {}

  /** @param attempt of this invocation, from 1: each draws its own faults. */
  plan(call: Call, attempt: number): Plan | Promise<Plan> {
    const { operations, waitFor } = this.parts;
    const { operation, arguments: args } = call.invocation;
    const waitMs = waitFor();
    if (waitMs > 0) return tooMany(waitMs);
    const problem = operations.problem(operation, args);
    if (!(problem instanceof Promise)) return this.#planUnless(problem, call, attempt);
    return problem.then(found => this.#planUnless(found, call, attempt));
  }

  #planUnless(problem: string | null, call: Call, attempt: number): Plan {
    const { handlers, fixtures } = this.parts;
    if (problem !== null) return refusal(problem);
    return handlers.answers(call.invocation.operation) ? handlers.plan(call) : fixtures.plan(call, attempt);
  }

  /** For a call that was answered before a restart: from a step on, or code from its start. Null where nobody knows it any more. */
  planAgain(call: Call, matched: Remembered, from: StepPath): Plan | null {
    const { handlers, fixtures } = this.parts;
    if (handlers.answers(call.invocation.operation)) return handlers.plan(call);
    return fixtures.planAgain(call, matched, from);
  }
}

/** TOOL-RATE: accepted, and told when to try again. */
function tooMany(waitMs: number): Plan {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  const message = `rate limit exceeded. Retry after ${seconds} second${seconds === 1 ? '' : 's'}.`;
  return plain([{ kind: 'planned', by: 'fixture', plan: 'rate-limit' }], conversation =>
    conversation.outcome({ type: 'error', message }),
  );
}
