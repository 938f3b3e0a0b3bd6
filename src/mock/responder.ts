import { randomUUID } from 'node:crypto';
import type { FaultyRequest } from '../events/faults.js';
import type { Log } from '../events/log.js';
import { Verification } from '../events/verification.js';
import { type Answered, answer, answerAgain, fixtureFor } from '../fixtures/answer-call.js';
import { type AckFault, DEFAULT_MIDDLEWARE, type RequestFault } from '../fixtures/file-schema.js';
import {
  ackFaultOf,
  type Call,
  callbackFaultsOf,
  draw,
  drawsOf,
  type Fixture,
  type FixtureSet,
  FixtureState,
  type Remembered,
  type StepPath,
} from '../fixtures/fixture-set.js';
import { type ValueCheck, type ValueChecker, valueChecker } from '../json-schema/validator.js';
import type { Invocation } from '../protocol/invocation.js';
import { readToolset } from '../protocol/read-toolset.js';
import type { Tool, Toolset } from '../protocol/toolset.js';
import { type Clock, systemClock } from '../system/clock.js';
import { ProtocolCliError } from '../util/errors.js';
import { safeJson } from '../util/redact.js';
import { nearest } from '../util/text.js';
import type { Conversation } from './conversation.js';
import { handlerPlan, type ToolDefinition } from './handlers.js';
import { type Rate, rateGate } from './limits.js';
import { type Middleware, Middlewares } from './middleware.js';
import { type Plan, plain, refusal } from './plan.js';
import { ReplyPlayer } from './reply-player.js';

/** The operations of a tool, without its address. */
export type ToolsetFields = Omit<Toolset, 'endpoint'>;

/** The toolset of a tool that has only handlers. */
export const NO_FIXTURES: FixtureSet = {
  toolset: { name: 'handlers', tools: [], needsMigration: false },
  middleware: DEFAULT_MIDDLEWARE,
  faults: {},
  fixtures: [],
};

/** Merges the operations of fixtures and handlers; a handler replaces a fixture operation of the same name. */
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

/** @throws ProtocolCliError `invalid-toolset`, with every error. */
export async function requireValidToolset(
  fixtures: FixtureSet = NO_FIXTURES,
  handlers: readonly ToolDefinition[] = [],
): Promise<void> {
  if (fixtures.document !== undefined) return; // the toolset is not served
  const value = { ...toolsetOf(fixtures, handlers), endpoint: 'http://127.0.0.1/' };
  const reading = await readToolset({ ok: true, value, notes: [] });
  if (reading.ok) return;
  throw new ProtocolCliError('invalid-toolset', 'the toolset is not valid', {
    faults: reading.faults,
    hint: 'Every operation needs a name of its own (A–Z a–z 0–9 _ -), a description and a JSON Schema.',
  });
}

/** Validates invocations before they are carried out (TOOL-VALIDATE). */
class Operations {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #compiling = new Map<string, Promise<ValueChecker>>();
  readonly #checkers = new Map<string, ValueChecker>();

  /** @param isOpen whether other operations than those of the toolset may be called */
  constructor(
    readonly toolset: ToolsetFields,
    private readonly isOpen: boolean,
  ) {
    this.#tools = new Map(toolset.tools.map(tool => [tool.name, tool]));
  }

  /** Returns why a call cannot be carried out, for the LLM; null if it can (TOOL-UNKNOWN-OP, TOOL-BAD-ARGS). */
  problem(operation: string, args: unknown): string | null | Promise<string | null> {
    const tool = this.#tools.get(operation);
    if (!tool) return this.isOpen ? null : this.#unknown(operation);
    const check = this.#checkers.get(operation);
    return check ? problemOf(operation, check(args)) : this.#firstProblem(tool, args);
  }

  /** Compiles the schema on first use; calls keep their order, since they wait for the same promise. */
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

/** Plans calls by fixtures, in the order in which they arrive. */
class FixturePlans {
  readonly #canRefuse: boolean;

  /** @param seed of all random numbers. */
  constructor(
    private readonly fixtures: FixtureSet,
    private readonly state: FixtureState,
    private readonly middlewares: Middlewares,
    private readonly seed: string,
    private readonly clock: Pick<Clock, 'wall'>,
  ) {
    this.#canRefuse = fixtures.fixtures.some(({ faults }) => faults.ack?.fault.kind === 'status');
  }

  /** @param attempt number of this invocation, from 1; each draws its own fault of the acknowledgement. */
  plan(call: Call, attempt: number): Plan {
    const refused = this.#canRefuse ? this.#refusal(call, attempt) : null;
    if (refused) return refused;
    const found = answer(this.fixtures, call, this.state);
    if (found.fixture === null) return refusal(found.message, found.nearest ?? undefined);
    const { fixture, key, count, state } = found;
    const ack = this.#ackFault(fixture, call, attempt);
    const matched = { kind: 'matched', fixture: fixture.id, key, count, state } as const;
    const facts = ack ? [matched, ackPlanned(ack, fixture)] : [matched];
    return this.#planned(found, call, [], facts, ack);
  }

  /** As {@link plan}, from this step on, for a call that was partly answered before a restart. Null if its fixture is gone. */
  planAgain(call: Call, matched: Remembered, from: StepPath): Plan | null {
    const found = answerAgain(this.fixtures, call, matched);
    return found ? this.#planned(found, call, from, [], null) : null;
  }

  /** Runs before counts and states change: a refused call is not counted. */
  #refusal(call: Call, attempt: number): Plan | null {
    const fixture = fixtureFor(this.fixtures, call, this.state);
    const ack = fixture ? this.#ackFault(fixture, call, attempt) : null;
    if (!fixture || ack?.kind !== 'status') return null;
    return { ...plain([ackPlanned(ack, fixture)], async () => {}), ack };
  }

  #ackFault(fixture: Fixture, { invocation: { group_id, id } }: Call, attempt: number): AckFault | null {
    return ackFaultOf(fixture, matter => draw(this.seed, fixture.id, group_id, id, String(attempt), matter));
  }

  #planned(
    found: Answered,
    { invocation }: Call,
    from: StepPath,
    facts: Plan['facts'],
    ack: AckFault | null,
  ): Plan {
    const draws = drawsOf(this.seed, found);
    return {
      facts,
      ack,
      faultsOf: (callback: number) =>
        callbackFaultsOf(found.fixture, matter => draws(`${callback} ${matter}`)),
      redact: (message: string) => this.middlewares.words(message, invocation).value,
      perform: (conversation: Conversation) => {
        const seen = this.middlewares.request(invocation);
        if (!(seen instanceof Promise)) return this.#play(found, seen, conversation, from); // an await would cost a turn
        return seen.then(changed => this.#play(found, changed, conversation, from));
      },
    };
  }

  #play(found: Answered, invocation: Invocation, conversation: Conversation, from: StepPath): Promise<void> {
    if (found.missing.length > 0) conversation.warn(`template values not found: ${found.missing.join(', ')}`);
    const player = new ReplyPlayer(conversation, this.middlewares, invocation, {
      values: new CallValues(invocation, found, this.clock),
      draws: drawsOf(this.seed, found),
      enterState: state => this.state.enter(found.stateKey, state),
    });
    return player.play(found.reply, { from });
  }
}

function ackPlanned({ kind }: AckFault, { id }: Fixture) {
  return { kind: 'planned', by: 'fault', plan: `ack ${kind}`, fixture: id } as const;
}

/** The values of templates. A class, because an object with getters costs a tenth of all the work for a call. */
class CallValues {
  readonly operation;
  readonly arguments;
  readonly id;
  readonly call_id;
  readonly group_id;
  readonly user_id;
  readonly thread_ancestors;
  readonly key;
  readonly count;

  constructor(
    invocation: Invocation,
    { key, count }: Answered,
    private readonly clock: Pick<Clock, 'wall'>,
  ) {
    this.operation = invocation.operation;
    this.arguments = invocation.arguments;
    this.id = invocation.id;
    this.call_id = invocation.call_id;
    this.group_id = invocation.group_id;
    this.user_id = invocation.user_id;
    this.thread_ancestors = invocation.thread_ancestors;
    this.key = key;
    this.count = count;
  }

  get now(): string {
    return this.clock.wall().toISOString();
  }

  get uuid(): string {
    return randomUUID();
  }
}

export interface ResponderOptions {
  /** The result of `readFixtures` or `parseFixtures`. */
  readonly fixtures?: FixtureSet;
  /** Operations in code; they take precedence over fixture operations of the same name. */
  readonly handlers?: readonly ToolDefinition[];
  readonly middleware?: readonly Middleware[];
  readonly rateLimit?: Rate;
  readonly clock?: Clock;
}

/** Plans the answer of every call by fixtures and handlers; keeps counts, states and the verification. */
export class Responder {
  readonly #state = new FixtureState();
  readonly #handlers: ReadonlyMap<string, ToolDefinition>;
  readonly #waitMs: () => number;
  /** Requests for which a fault was planned. */
  readonly #faulty = new Map<FaultyRequest, number>();
  #serving: ReturnType<Responder['servingOf']>;
  #verification: Verification;

  /** @param seed of all random numbers. */
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

  /** The toolset; the same object until the fixtures are replaced. */
  get toolset(): ToolsetFields {
    return this.#serving.operations.toolset;
  }

  /** What discovery answers, without an endpoint; the same value until the fixtures are replaced. */
  get document(): unknown {
    const { document } = this.#serving.fixtures;
    return document === undefined ? this.toolset : document;
  }

  /** @param attempt number of this invocation, from 1; each draws its own faults. */
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

  /** The fault of the next request of a kind; null without one. The n-th request draws the same fault in each run. */
  faultOf(request: FaultyRequest): RequestFault | null {
    const planned = this.#serving.fixtures.faults[request];
    if (!planned) return null;
    const count = (this.#faulty.get(request) ?? 0) + 1;
    this.#faulty.set(request, count);
    return draw(this.seed, request, String(count)) < planned.probability ? planned.fault : null;
  }

  /** Continues a call after a restart: fixtures from a step on, handlers from the start. Null if its fixture is gone. */
  planAgain(call: Call, matched: Remembered, from: StepPath): Plan | null {
    const { middlewares, fixturePlans } = this.#serving;
    const handler = this.#handlers.get(call.invocation.operation);
    return handler ? handlerPlan(handler, call, middlewares) : fixturePlans.planAgain(call, matched, from);
  }

  /** Replaces the fixtures from the next call on; keeps counts and states. @throws ProtocolCliError `invalid-toolset`. */
  async replaceFixtures(fixtures: FixtureSet): Promise<void> {
    await requireValidToolset(fixtures, this.options.handlers);
    this.#serving = this.servingOf(fixtures);
    this.#verification.reload(fixtures.fixtures);
  }

  /**
   * Resets the counts and states of one key, which is a thread unless a fixture sets it; without a key everything, with the
   * verification.
   */
  reset(key?: string): void {
    this.#state.reset(key);
    if (key !== undefined) return;
    this.#faulty.clear();
    this.#verification = new Verification(this.#serving.fixtures.fixtures);
  }

  /** Restores the counts of an earlier run. */
  restore(fact: Parameters<FixtureState['restore']>[0]): void {
    this.#state.restore(fact);
  }

  private servingOf(fixtures: FixtureSet) {
    const { handlers = [], middleware, clock = systemClock } = this.options;
    const middlewares = new Middlewares(fixtures.middleware, middleware);
    const isOpen = fixtures.document !== undefined && fixtures.toolset.tools.length === 0;
    return {
      fixtures,
      middlewares,
      operations: new Operations(toolsetOf(fixtures, handlers), isOpen),
      fixturePlans: new FixturePlans(fixtures, this.#state, middlewares, this.seed, clock),
    };
  }
}

/** Plans an error with the time to wait for an accepted call beyond the rate (TOOL-RATE). */
function rateLimited(waitMs: number): Plan {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  const message = `rate limit exceeded. Retry after ${seconds} second${seconds === 1 ? '' : 's'}.`;
  return plain([{ kind: 'planned', by: 'fixture', plan: 'rate-limit' }], conversation =>
    conversation.outcome({ type: 'error', message }),
  );
}
