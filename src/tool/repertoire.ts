import type { Log } from '../exchange/log.js';
import { Verification } from '../exchange/verification/verification.js';
import type { FixtureSet } from '../fixtures/fixture-set.js';
import { FixtureState } from '../fixtures/fixture-state.js';
import { systemClock } from '../system/clock.js';
import { Answers } from './answers/answers.js';
import { FixtureAnswers } from './answers/fixture-answers.js';
import { Operations, type ToolsetFields } from './answers/operations.js';
import { rateGate } from './answers/rate-limit.js';
import { toolsetOf } from './answers/toolset-of.js';
import { HandlerAnswers } from './handlers/handler-answers.js';
import { Middlewares } from './middleware/middlewares.js';
import { type MockToolOptions, NO_FIXTURES } from './options.js';

export type RepertoireOptions = Pick<
  MockToolOptions,
  'fixtures' | 'handlers' | 'middleware' | 'rateLimit' | 'clock'
>;

/** All that can be answered, what was counted for it, and whether it was used as expected: however calls come in. */
export class Repertoire {
  readonly #state = new FixtureState();
  readonly #waitFor: () => number;
  #fixtures: FixtureSet;
  #toolset: ToolsetFields | null = null;
  #answers: Answers;
  #verification: Verification;

  /** @param seed all that is drawn comes from it. */
  constructor(
    private readonly options: RepertoireOptions,
    private readonly seed: string,
    log: Log,
  ) {
    const { clock = systemClock, fixtures = NO_FIXTURES, rateLimit } = options;
    this.#waitFor = rateGate(rateLimit, clock);
    this.#fixtures = fixtures;
    this.#answers = this.#answersBy(fixtures);
    this.#verification = new Verification(fixtures.fixtures);
    log.subscribe(event => this.#verification.apply(event));
  }

  get answers(): Answers {
    return this.#answers;
  }

  get verification(): Verification {
    return this.#verification;
  }

  /** The same object until the fixtures are replaced. */
  get toolset(): ToolsetFields {
    this.#toolset ??= toolsetOf(this.#fixtures, this.options.handlers ?? []);
    return this.#toolset;
  }

  /** From the next call on. Counts and states stay. */
  replaceFixtures(fixtures: FixtureSet): void {
    this.#fixtures = fixtures;
    this.#toolset = null;
    this.#answers = this.#answersBy(fixtures);
    this.#verification.reload(fixtures.fixtures);
  }

  /** Forgets counts and states of one key, which is a thread unless a fixture says otherwise; or everything, and what was verified. */
  reset(key?: string): void {
    this.#state.reset(key);
    if (key === undefined) this.#verification = new Verification(this.#fixtures.fixtures);
  }

  /** What an earlier run counted. */
  restore(fact: Parameters<FixtureState['restore']>[0]): void {
    this.#state.restore(fact);
  }

  #answersBy(fixtures: FixtureSet): Answers {
    const { handlers = [], middleware, clock = systemClock } = this.options;
    const middlewares = new Middlewares(fixtures.middleware, middleware);
    return new Answers({
      operations: new Operations(toolsetOf(fixtures, handlers)),
      handlers: new HandlerAnswers(handlers, middlewares),
      fixtures: new FixtureAnswers({ fixtures, state: this.#state, middlewares, seed: this.seed, clock }),
      waitFor: this.#waitFor,
    });
  }
}
