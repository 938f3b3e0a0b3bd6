import type { Log } from '../events/log.js';
import { Verification } from '../events/verification.js';
import { DEFAULT_MIDDLEWARE } from '../fixtures/file-schema.js';
import { type FixtureSet, FixtureState, type Remembered, type StepPath } from '../fixtures/fixture-set.js';
import { type ValueCheck, type ValueChecker, valueChecker } from '../json-schema/validator.js';
import { readToolset } from '../protocol/read-toolset.js';
import type { Tool, Toolset } from '../protocol/toolset.js';
import { type Clock, systemClock } from '../system/clock.js';
import { ProtocolCliError } from '../util/errors.js';
import { safeJson } from '../util/redact.js';
import { nearest } from '../util/text.js';
import type { Call } from './conversation.js';
import { FixturePlans } from './fixture-plans.js';
import { handlerPlan, type ToolDefinition } from './handlers.js';
import { type Middleware, Middlewares } from './middleware.js';
import { type Plan, plain, refusal } from './plan.js';
import { type Rate, rateGate } from './rate-limit.js';

/** What a tool offers, without its address. */
export type ToolsetFields = Omit<Toolset, 'endpoint'>;

/** Served when a tool has handlers only. */
export const NO_FIXTURES: FixtureSet = {
  toolset: { name: 'handlers', tools: [], needsMigration: false },
  middleware: DEFAULT_MIDDLEWARE,
  fixtures: [],
};

/** The operations of fixtures and handlers together; a handler replaces a fixture operation of the same name. */
function toolsetOf({ toolset }: FixtureSet, handlers: readonly ToolDefinition[]): ToolsetFields {
  const names = new Set(handlers.map(({ name }) => name));
  const others = toolset.tools.filter(({ name }) => !names.has(name));
  const { name, description, needsMigration } = toolset;
  const own = handlers.map(({ handle: _, ...tool }): Tool => tool);
  return {
    name,
    ...(description !== undefined && { description }),
    needsMigration,
    tools: [...own, ...others],
  };
}

/** @throws ProtocolCliError `invalid-toolset`, with every fault. */
export async function requireValidToolset(
  fixtures: FixtureSet = NO_FIXTURES,
  handlers: readonly ToolDefinition[] = [],
): Promise<void> {
  const value = { ...toolsetOf(fixtures, handlers), endpoint: 'http://127.0.0.1/' };
  const reading = await readToolset({ ok: true, value, notes: [] });
  if (reading.ok) return;
  throw new ProtocolCliError('invalid-toolset', 'the toolset is not valid', {
    faults: reading.faults,
    hint: 'Every operation needs a name of its own (A–Z a–z 0–9 _ -), a description and a JSON Schema.',
  });
}

/** Decides whether an invocation may be carried out at all (TOOL-VALIDATE). */
class Operations {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #compiling = new Map<string, Promise<ValueChecker>>();
  readonly #checkers = new Map<string, ValueChecker>();

  constructor(readonly toolset: ToolsetFields) {
    this.#tools = new Map(toolset.tools.map(tool => [tool.name, tool]));
  }

  /** Why a call cannot be carried out, for the LLM; null if it can (TOOL-UNKNOWN-OP, TOOL-BAD-ARGS). */
  problem(operation: string, args: unknown): string | null | Promise<string | null> {
    const tool = this.#tools.get(operation);
    if (!tool) return this.#unknown(operation);
    const check = this.#checkers.get(operation);
    return check ? problemOf(operation, check(args)) : this.#firstProblem(tool, args);
  }

  /** The schema is compiled when it is first needed; calls keep their order, since they wait for the same promise. */
  async #firstProblem({ name, inputSchema }: Tool, args: unknown): Promise<string | null> {
    const compiling = this.#compiling.get(name) ?? valueChecker(inputSchema);
    this.#compiling.set(name, compiling);
    const check = await compiling;
    this.#checkers.set(name, check);
    return problemOf(name, check(args));
  }

  #unknown(operation: string): string {
    const names = [...this.#tools.keys()];
    const [near] = nearest(operation, names);
    const meant = near === undefined ? '' : ` Did you mean ${near}?`;
    return `unknown operation ${safeJson(operation)}.${meant} Use one of ${names.join(', ')}.`;
  }
}

function problemOf(operation: string, check: ValueCheck): string | null {
  if (check.kind === 'valid') return null;
  if (check.kind === 'unusable')
    return check.isUnknownDraft ? null : `cannot validate the arguments of ${operation}: ${check.reason}`;
  const faults = check.faults.map(({ path, message }) => `${path} ${message}`).join('; ');
  return `invalid arguments: ${faults}. Correct them and call again.`;
}

export interface ResponderOptions {
  /** Read by `readFixtures`, or checked by `parseFixtures`. */
  readonly fixtures?: FixtureSet;
  /** Operations in code; where both have one, the code answers. */
  readonly handlers?: readonly ToolDefinition[];
  readonly middleware?: readonly Middleware[];
  readonly rateLimit?: Rate;
  readonly clock?: Clock;
}

/** Plans the answer of every call, by fixtures and handlers; keeps counts, states and the verification. */
export class Responder {
  readonly #state = new FixtureState();
  readonly #handlers: ReadonlyMap<string, ToolDefinition>;
  readonly #waitMs: () => number;
  #serving: ReturnType<Responder['servingOf']>;
  #verification: Verification;

  /** @param seed of all random draws. */
  constructor(
    private readonly options: ResponderOptions,
    private readonly seed: string,
    log: Log,
  ) {
    const { clock = systemClock, fixtures = NO_FIXTURES, handlers = [], rateLimit } = options;
    this.#waitMs = rateGate(rateLimit, clock);
    this.#handlers = new Map(handlers.map(definition => [definition.name, definition]));
    this.#serving = this.servingOf(fixtures);
    this.#verification = new Verification(fixtures.fixtures);
    log.subscribe(event => this.#verification.apply(event));
  }

  get verification(): Verification {
    return this.#verification;
  }

  /** The same object until the fixtures are replaced. */
  get toolset(): ToolsetFields {
    return this.#serving.operations.toolset;
  }

  /** @param attempt of this invocation, from 1: each draws its own faults. */
  plan(call: Call, attempt = 1): Plan | Promise<Plan> {
    const serving = this.#serving;
    const { operation, arguments: args } = call.invocation;
    const waitMs = this.#waitMs();
    if (waitMs > 0) return rateLimited(waitMs);
    const planUnless = (problem: string | null): Plan => {
      if (problem !== null) return refusal(problem);
      const handler = this.#handlers.get(operation);
      return handler
        ? handlerPlan(handler, call, serving.middlewares)
        : serving.fixturePlans.plan(call, attempt);
    };
    const problem = serving.operations.problem(operation, args);
    return problem instanceof Promise ? problem.then(planUnless) : planUnless(problem);
  }

  /** Continues a call after a restart: fixtures from a step on, handlers from their start. Null if its fixture is gone. */
  planAgain(call: Call, matched: Remembered, from: StepPath): Plan | null {
    const { middlewares, fixturePlans } = this.#serving;
    const handler = this.#handlers.get(call.invocation.operation);
    return handler ? handlerPlan(handler, call, middlewares) : fixturePlans.planAgain(call, matched, from);
  }

  /** From the next call on. Counts and states stay. */
  replaceFixtures(fixtures: FixtureSet): void {
    this.#serving = this.servingOf(fixtures);
    this.#verification.reload(fixtures.fixtures);
  }

  /** Forgets counts and states of one key, which is a thread unless a fixture says otherwise; or everything, and what was verified. */
  reset(key?: string): void {
    this.#state.reset(key);
    if (key === undefined) this.#verification = new Verification(this.#serving.fixtures.fixtures);
  }

  /** Restores what an earlier run counted. */
  restore(fact: Parameters<FixtureState['restore']>[0]): void {
    this.#state.restore(fact);
  }

  private servingOf(fixtures: FixtureSet) {
    const { handlers = [], middleware, clock = systemClock } = this.options;
    const middlewares = new Middlewares(fixtures.middleware, middleware);
    return {
      fixtures,
      middlewares,
      operations: new Operations(toolsetOf(fixtures, handlers)),
      fixturePlans: new FixturePlans(fixtures, this.#state, middlewares, this.seed, clock),
    };
  }
}

/** TOOL-RATE: accepted, and answered with the time to wait. */
function rateLimited(waitMs: number): Plan {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  const message = `rate limit exceeded. Retry after ${seconds} second${seconds === 1 ? '' : 's'}.`;
  return plain([{ kind: 'planned', by: 'fixture', plan: 'rate-limit' }], conversation =>
    conversation.outcome({ type: 'error', message }),
  );
}
