import type { FixtureSet, Remembered, StepPath } from '../fixtures/fixture-set.js';
import { type ValueCheck, type ValueChecker, valueChecker } from '../json-schema/validator.js';
import { readToolset } from '../protocol/read-toolset.js';
import type { Tool, Toolset } from '../protocol/toolset.js';
import { ProtocolCliError } from '../util/errors.js';
import { nearest } from '../util/nearest.js';
import { safeJson } from '../util/redact-json.js';
import { type FixtureAnswers, type Plan, plain, refusal } from './answer-calls.js';
import type { HandlerAnswers, ToolDefinition } from './handlers.js';
import type { Call } from './reply-waits.js';

/** What a tool offers, apart from where. */
export type ToolsetFields = Omit<Toolset, 'endpoint'>;

/** Decides whether an invocation may be carried out at all (TOOL-VALIDATE). */
export class Operations {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #compiling = new Map<string, Promise<ValueChecker>>();
  readonly #checkers = new Map<string, ValueChecker>();

  constructor(readonly toolset: ToolsetFields) {
    this.#tools = new Map(toolset.tools.map(tool => [tool.name, tool]));
  }

  /** Why a call cannot be carried out, for the LLM to do better; null where it can (TOOL-UNKNOWN-OP, TOOL-BAD-ARGS). */
  problem(operation: string, args: unknown): string | null | Promise<string | null> {
    const tool = this.#tools.get(operation);
    if (!tool) return this.#unknown(operation);
    const check = this.#checkers.get(operation);
    return check ? problemOf(operation, check(args)) : this.#firstProblem(tool, args);
  }

  /** The schema is compiled when it is first needed; calls keep their order, since they wait for the same promise. */
  async #firstProblem(tool: Tool, args: unknown): Promise<string | null> {
    const compiling = this.#compiling.get(tool.name) ?? valueChecker(tool.inputSchema);
    this.#compiling.set(tool.name, compiling);
    const check = await compiling;
    this.#checkers.set(tool.name, check);
    return problemOf(tool.name, check(args));
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
  if (check.kind === 'unusable' && check.isUnknownDraft) return null;
  if (check.kind === 'unusable') return `cannot validate the arguments of ${operation}: ${check.reason}`;
  const faults = check.faults.map(({ path, message }) => `${path} ${message}`).join('; ');
  return `invalid arguments: ${faults}. Correct them and call again.`;
}

/** The operations of fixtures and handlers together; a handler replaces a fixture operation of the same name. */
export function toolsetOf({ toolset }: FixtureSet, handlers: readonly ToolDefinition[]): ToolsetFields {
  const own = handlers.map(toolOf);
  const names = new Set(own.map(({ name }) => name));
  const others = toolset.tools.filter(({ name }) => !names.has(name));
  const { name, description, needsMigration } = toolset;
  const about = description === undefined ? {} : { description };
  return { name, ...about, needsMigration, tools: [...own, ...others] };
}

/** @throws ProtocolCliError `invalid-toolset`, with every fault. */
export async function requireValidToolset(toolset: ToolsetFields): Promise<ToolsetFields> {
  const value = { ...toolset, endpoint: 'http://127.0.0.1/' };
  const reading = await readToolset({ ok: true, value, notes: [] });
  if (reading.ok) return toolset;
  throw new ProtocolCliError('invalid-toolset', 'the toolset is not valid', {
    faults: reading.faults,
    hint: 'Every operation needs a name of its own (A–Z a–z 0–9 _ -), a description and a JSON Schema.',
  });
}

function toolOf({ handle: _, ...tool }: ToolDefinition): Tool {
  return { ...tool };
}

interface AnswersParts {
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

  /** Continues a call after a restart: fixtures from a step on, handlers from their start. Null if its fixture is gone. */
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
