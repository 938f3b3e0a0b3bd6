import type { Fact } from '../events/events.js';
import type { FaultyRequest } from '../events/faults.js';
import type { Log } from '../events/log.js';
import { type FixtureAnswer, FixtureResponder } from '../fixtures/answer-call.js';
import { DEFAULT_MIDDLEWARE, type RequestFault } from '../fixtures/file-schema.js';
import type { Call, FixtureSet } from '../fixtures/fixture-set.js';
import { type ValueCheck, type ValueChecker, valueChecker } from '../json-schema/validator.js';
import { readToolset } from '../protocol/read-toolset.js';
import type { Tool, Toolset } from '../protocol/toolset.js';
import { type Clock, systemClock } from '../system/clock.js';
import { ProtocolCliError } from '../util/errors.js';
import { safeJson } from '../util/safe-json.js';
import { nearest } from '../util/text.js';
import { Verification } from '../verification/verification.js';
import { handlerPlan, type ToolDefinition } from './handlers.js';
import { type Middleware, Middlewares } from './middleware.js';
import { type Plan, planWithoutFaults, refusalPlan } from './plan.js';
import { ReplyPlayer } from './reply-player.js';

/** A toolset without its address. */
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

/** Checks the arguments of each operation. */
export type ArgumentCheckers = ReadonlyMap<string, ValueChecker>;

/**
 * Validates the toolset and compiles its schemas. A call only runs what is loaded before (threats, row 33).
 * @throws ProtocolCliError `invalid-toolset`, with every error.
 */
export async function prepareToolset(
  fixtures: FixtureSet = NO_FIXTURES,
  handlers: readonly ToolDefinition[] = [],
): Promise<ArgumentCheckers> {
  const toolset = toolsetOf(fixtures, handlers);
  if (fixtures.document === undefined) await requireValid(toolset); // else the toolset is not served
  const checkers = new Map<string, ValueChecker>();
  for (const { name, inputSchema } of toolset.tools) checkers.set(name, await valueChecker(inputSchema));
  return checkers;
}

async function requireValid(toolset: ToolsetFields): Promise<void> {
  const value = { ...toolset, endpoint: 'http://127.0.0.1/' };
  const reading = await readToolset({ ok: true, value, notes: [] });
  if (reading.ok) return;
  throw new ProtocolCliError('invalid-toolset', 'the toolset is not valid', {
    faults: reading.faults,
    hint: 'Every operation needs a name of its own (A–Z a–z 0–9 _ -), a description and a JSON Schema.',
  });
}

/** Validates invocations before they are carried out (TOOL-VALIDATE). */
class Operations {
  /** @param isOpen whether other operations than those of the toolset may be called */
  constructor(
    readonly toolset: ToolsetFields,
    private readonly checkers: ArgumentCheckers,
    private readonly isOpen: boolean,
  ) {}

  /** Returns why a call cannot be carried out, for the LLM; null if it can (TOOL-UNKNOWN-OP, TOOL-BAD-ARGS). */
  problem(operation: string, args: unknown): string | null {
    const check = this.checkers.get(operation);
    if (check) return problemOf(operation, check(args));
    return this.isOpen ? null : this.#unknown(operation);
  }

  #unknown(operation: string): string {
    const names = [...this.checkers.keys()];
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

/** Maximum number of calls per time window; all of them may arrive at once. */
export interface Rate {
  readonly calls: number;
  readonly within: number;
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

/** What answers calls, until the fixtures are replaced. */
interface Serving {
  readonly fixtures: FixtureSet;
  readonly middlewares: Middlewares;
  readonly operations: Operations;
}

/** Plans the answer of every call by fixtures and handlers, in the order in which calls arrive; keeps the verification. */
export class Responder {
  readonly #answers: FixtureResponder;
  readonly #handlers: ReadonlyMap<string, ToolDefinition>;
  readonly #clock: Clock;
  readonly #waitMs: () => number;
  #serving: Serving;
  #verification: Verification;

  constructor(
    private readonly options: ResponderOptions,
    checkers: ArgumentCheckers,
    seed: string,
    log: Log,
  ) {
    const { clock = systemClock, fixtures = NO_FIXTURES, handlers = [], rateLimit } = options;
    this.#clock = clock;
    this.#waitMs = rateGate(rateLimit, clock);
    this.#handlers = new Map(handlers.map(definition => [definition.name, definition]));
    this.#answers = new FixtureResponder(seed, fixtures);
    this.#serving = this.#servingOf(fixtures, checkers);
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
  plan(call: Call, attempt = 1): Plan {
    const { middlewares, operations } = this.#serving;
    const { operation, arguments: args } = call.invocation;
    const waitMs = this.#waitMs();
    if (waitMs > 0) return rateLimited(waitMs);
    const problem = operations.problem(operation, args);
    if (problem !== null) return refusalPlan(problem);
    const handler = this.#handlers.get(operation);
    return handler ? handlerPlan(handler, call, middlewares) : this.#fixturePlan(call, attempt, middlewares);
  }

  faultOf(request: FaultyRequest): RequestFault | null {
    return this.#answers.faultOf(request);
  }

  /** Replaces the fixtures from the next call on; keeps counts and states. @throws ProtocolCliError `invalid-toolset`. */
  async replaceFixtures(fixtures: FixtureSet): Promise<void> {
    const checkers = await prepareToolset(fixtures, this.options.handlers);
    this.#serving = this.#servingOf(fixtures, checkers);
    this.#answers.replace(fixtures);
    this.#verification.reload(fixtures.fixtures);
  }

  /**
   * Resets the counts and states of one key, which is a thread unless a fixture sets it; without a key everything, with the
   * verification.
   */
  reset(key?: string): void {
    this.#answers.reset(key);
    if (key === undefined) this.#verification = new Verification(this.#serving.fixtures.fixtures);
  }

  #fixturePlan(call: Call, attempt: number, middlewares: Middlewares): Plan {
    const found = this.#answers.answer(call, attempt);
    if (found.kind === 'unmatched') return refusalPlan(found.message, found.nearest ?? undefined);
    const { fixture, ack } = found;
    if (found.kind === 'refused')
      return { ...planWithoutFaults([ackPlanned(found.ack.kind, fixture.id)], async () => {}), ack };
    const { key, count, state } = found;
    const matched = { kind: 'matched', fixture: fixture.id, key, count, state } as const;
    const facts = ack ? [matched, ackPlanned(ack.kind, fixture.id)] : [matched];
    return this.#planned(found, call, middlewares, facts);
  }

  #planned(
    found: FixtureAnswer,
    { invocation }: Call,
    middlewares: Middlewares,
    facts: readonly Fact[],
  ): Plan {
    return {
      facts,
      ack: found.ack,
      faultsOf: callback => found.faultsOf(callback),
      redact: message => middlewares.words(message, invocation).value,
      perform: async conversation => {
        const seen = await middlewares.request(invocation);
        await new ReplyPlayer(conversation, middlewares, seen, found, this.#clock).playFixture();
      },
    };
  }

  #servingOf(fixtures: FixtureSet, checkers: ArgumentCheckers): Serving {
    const { handlers = [], middleware } = this.options;
    const isOpen = fixtures.document !== undefined && fixtures.toolset.tools.length === 0;
    return {
      fixtures,
      middlewares: new Middlewares(fixtures.middleware, middleware),
      operations: new Operations(toolsetOf(fixtures, handlers), checkers, isOpen),
    };
  }
}

function ackPlanned(fault: string, fixture: string): Fact {
  return { kind: 'planned', by: 'fault', plan: `ack ${fault}`, fixture };
}

/** A shorter wait is a rounding error, in ms. */
const NOTHING = 1e-6;

/**
 * Creates a bucket of `calls` tokens with one refill every `within / calls` ms (TOOL-RATE). Each call of the returned function takes a
 * token and returns 0; without a token left it returns the milliseconds until the next one. Without a rate it returns 0.
 */
function rateGate(rate: Rate | undefined, clock: Pick<Clock, 'now'>): () => number {
  if (!rate) return () => 0;
  const { calls, within } = rate;
  let fullAt = Number.NEGATIVE_INFINITY; // in ms times `calls`: integers avoid accumulated rounding errors
  return () => {
    const now = clock.now() * calls;
    const full = Math.max(fullAt, now);
    const wait = (full - now - within * (calls - 1)) / calls;
    if (wait > NOTHING) return wait;
    fullAt = full + within;
    return 0;
  };
}

/** Plans an error with the time to wait for an accepted call beyond the rate (TOOL-RATE). */
function rateLimited(waitMs: number): Plan {
  const seconds = Math.ceil((waitMs - NOTHING) / 1_000);
  const message = `rate limit exceeded. Retry after ${seconds} second${seconds === 1 ? '' : 's'}.`;
  return planWithoutFaults([{ kind: 'planned', by: 'fixture', plan: 'rate-limit' }], conversation =>
    conversation.outcome({ type: 'error', message }),
  );
}
