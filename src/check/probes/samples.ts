import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Caller, Case, Offer } from '../../fixtures/check-files.js';
import { ArgumentMaker } from '../../json-schema/example.js';
import type { RequirementId } from '../../protocol/requirements.js';
import type { Tool, Toolset } from '../../protocol/toolset.js';
import { toolOf } from '../../runtime/check-call.js';
import { forEachConcurrently, groupBy } from '../../util/collections.js';
import { ProtocolCliError } from '../../util/errors.js';
import { LIMITS } from '../../util/limits.js';
import { didYouMean, excerpt, joinFirst } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import type { ProbeCall, ProbePlan } from './probe-call.js';
import type { ProbeClient, Prober } from './prober.js';
import type { SentCall } from './sent-call.js';

/** An operation that may be called, and valid arguments for it. */
interface Callable {
  readonly tool: Tool;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Of the case that has the arguments. */
  readonly caller: Caller | undefined;
  /** Whether it may be called repeatedly: it is marked readOnly, or named with --operation. */
  readonly isHarmless: boolean;
}

/** The operations that the user allows the check to call: selected by name, or used by a case. */
interface Permission {
  readonly operations: readonly string[];
  readonly cases: readonly Case[];
  /** Whether selected operations may be marked destructive; default: true. */
  readonly mayBeDestructive?: boolean | undefined;
}

type IndexedCase = readonly [index: number, written: Case];

interface SampleOptions extends Permission {
  /** Given if rules are tried again: only operations that may be called repeatedly are called. */
  readonly repeats?: readonly unknown[];
}

/** Returns a function that tells whether the time is over: a foreign schema may be costly on purpose (threats, row 22). */
function schemaDeadline(ms = LIMITS.exampleMs.value): () => boolean {
  const end = performance.now() + ms;
  return () => performance.now() > end;
}

/**
 * The operations that may be called: the selected ones, those with a case, and those marked as harmless. No check calls any other
 * operation, so no data is deleted.
 * @throws ProtocolCliError `unknown-operation`; for a case with its place. `decision-needed` for a destructive one, unless it is allowed
 */
export async function callablesOf(
  toolset: Toolset,
  permission: Permission,
): Promise<{ readonly callables: readonly Callable[]; readonly warnings: readonly string[] }> {
  refuseUnknown(toolset, permission);
  refuseDestructive(toolset, permission);
  const { operations, cases } = permission;
  const isOver = schemaDeadline(LIMITS.examplesMs.value);
  const callables: Callable[] = [];
  const warnings: string[] = [];
  const allowed = toolset.tools
    .map(tool => ({
      tool,
      isHarmless: isMarkedHarmless(tool) || operations.includes(tool.name),
      written: cases.find(({ operation }) => operation === tool.name),
    }))
    .filter(({ isHarmless, written }) => isHarmless || written);
  if (!allowed.some(({ isHarmless }) => isHarmless)) warnings.push(onlySingleCalls(allowed.length > 0));
  for (const { tool, isHarmless, written } of allowed) {
    await setImmediate(); // signals are handled between two schemas
    const found = isOver()
      ? `${tool.name} is not called: the schemas of the others took too long`
      : await argumentsFor(tool, written);
    if (typeof found === 'string') warnings.push(visibleLine(found));
    else callables.push({ tool, arguments: found, caller: written?.caller, isHarmless });
  }
  return { callables, warnings };
}

function onlySingleCalls(hasCases: boolean): string {
  const what = hasCases
    ? 'only the cases are called, once each, so most rules could not run'
    : 'no operation is called';
  const others = hasCases ? '' : ', or --cases <file> for single calls';
  return `${what}: no operation is marked readOnly without requiresAuth or longRunning; add --operation <name> for one that may be called repeatedly${others}`;
}

async function argumentsFor(tool: Tool, written: Case | undefined): Promise<Callable['arguments'] | string> {
  if (written) return written.arguments;
  const example = (await ArgumentMaker.for(tool.inputSchema, schemaDeadline())).valid();
  if (example.ok) return example.arguments;
  return `${tool.name} is not called: no valid arguments could be made from its inputSchema (${example.reason}); write a case`;
}

function isMarkedHarmless({ annotations: { readOnly, destructive, requiresAuth, longRunning } = {} }: Tool) {
  return readOnly === true && !destructive && !longRunning && requiresAuth === undefined;
}

/** Rejects unknown names: calling a misspelt operation would return an error, which a case may even expect. */
function refuseUnknown(toolset: Toolset, { operations, cases }: Permission): void {
  for (const operation of operations) toolOf(toolset, operation);
  const names = toolset.tools.map(({ name }) => name);
  const faults = cases
    .filter(({ operation }) => !names.includes(operation))
    .map(({ place, operation }) => `${place}: no operation "${operation}". ${didYouMean(operation, names)}`);
  if (faults.length === 0) return;
  const message = `the toolset ${visibleLine(toolset.name)} does not have all operations of the cases`;
  throw new ProtocolCliError('unknown-operation', message, {
    faults: faults.map(fault => visibleLine(fault.trim())),
    hint: 'Correct the operations of these cases; `protocol-cli toolset <url>` lists the operations.',
  });
}

function refuseDestructive({ tools }: Toolset, { operations, cases, mayBeDestructive }: Permission): void {
  const selected = new Set([...operations, ...cases.map(({ operation }) => operation)]);
  const refused = tools.filter(({ name, annotations }) => selected.has(name) && annotations?.destructive);
  if (mayBeDestructive !== false || refused.length === 0) return;
  const names = refused.map(({ name }) => name);
  throw new ProtocolCliError('decision-needed', destructiveText(names));
}

/** `deploy is marked destructive, so it was not called` */
function destructiveText(names: readonly string[]): string {
  const [verb, what] = names.length === 1 ? ['is', 'it was'] : ['are', 'they were'];
  return `${visibleLine(joinFirst(names, MAX_NAMED))} ${verb} marked destructive, so ${what} not called`;
}

const CONCURRENCY = 8;

/** Maximum number of operations without a case that are called. */
const MAX_OPERATIONS = 25;

/** Maximum number of calls with broken arguments: per operation, and in total. */
const MAX_BROKEN = { each: 6, all: 24 };

const LARGE = 100 * 1024;

/** Texts that a careless tool takes for a path, a command, a query or the end of a text. They do no harm to one that does. */
const HOSTILE_TEXTS: readonly string[] = [
  `"double", 'single' and \`back\` quotes`,
  '../../no-such-folder/no-such-file',
  '$(echo hostile) `echo hostile` | echo hostile',
  "'; -- hostile",
  'before\u0000after',
  'Zoë 工具 👩🏽‍💻',
  'x'.repeat(LARGE),
];

/** Maximum number of calls with hostile texts. */
const MAX_HOSTILE = 4 * HOSTILE_TEXTS.length;

/** Maximum number of operations that a warning names. */
const MAX_NAMED = 3;

/** After this many silent operations, the rest is skipped. */
const MAX_SILENT = 3;

const SHOWN_BY: Readonly<Record<Offer, readonly RequirementId[]>> = {
  choice: ['TOOL-CHOICE'],
  oauth: ['TOOL-OAUTH'],
  subscription: ['TOOL-SUB'],
  view: ['TOOL-POST'],
};

/** One call of an operation, with the arguments of a case or example arguments. */
class Sample {
  /** Resolves when the call is sent; null if it was skipped. */
  readonly sent: Promise<SentCall | null>;
  resolve: (sent: SentCall | null) => void = () => {};

  /** @param callable the operation, if this is its first call */
  constructor(
    readonly plan: ProbePlan,
    readonly client: ProbeClient,
    readonly call: ProbeCall,
    readonly callable: Callable | undefined,
    /** Samples of the same thread are sent one after another. */
    readonly thread?: string,
  ) {
    this.sent = new Promise(resolve => {
      this.resolve = resolve;
    });
  }
}

/**
 * Calls every permitted operation once, with the arguments of its cases or example arguments. The calls start when the samples are first
 * requested.
 */
export class SampleCalls {
  #samples: readonly Sample[] | undefined;
  #finished: Promise<void> | undefined;
  #operation: Promise<ProbeCall | null> | undefined;
  #brokenCalls: Promise<readonly ProbeCall[]> | undefined;
  #hostileCalls: Promise<readonly ProbeCall[]> | undefined;

  private constructor(
    private readonly prober: Prober,
    private readonly plan: ProbePlan,
    readonly callables: readonly Callable[],
    private readonly cases: readonly IndexedCase[],
    /** The names given with --operation. */
    private readonly selected: readonly string[],
  ) {}

  /** @param plan the plan of the calls without a case @throws ProtocolCliError `unknown-operation` */
  static async of(prober: Prober, plan: ProbePlan, toolset: Toolset | null, options: SampleOptions) {
    if (!toolset) return new SampleCalls(prober, plan, [], [], []);
    const { callables, warnings } = await callablesOf(toolset, options);
    for (const message of warnings) prober.warn(message);
    const { operations, repeats } = options;
    const cases = [...options.cases.entries()];
    if (!repeats) return new SampleCalls(prober, plan, callables, cases, operations);
    const harmless = callables.filter(({ isHarmless }) => isHarmless);
    const isHarmless = ([, { operation }]: IndexedCase) =>
      harmless.some(({ tool }) => tool.name === operation);
    return new SampleCalls(prober, plan, harmless, cases.filter(isHarmless), operations);
  }

  /** Makes the calls at the first time. Resolves when all have ended. */
  finish(): Promise<void> {
    this.#samples ??= this.#makeSamples();
    this.#finished ??= this.#callAll(this.#samples);
    return this.#finished;
  }

  get isStarted(): boolean {
    return this.#finished !== undefined;
  }

  /**
   * The operation that the other probes call: the first that answers with a plain result, else one that answers with an error, asks a
   * question, subscribes, or is silent; null if absent. An operation that needs consent would need it each time.
   */
  get operation(): Promise<ProbeCall | null> {
    this.#operation ??= this.#pickOperation();
    return this.#operation;
  }

  /** The operations that may be called repeatedly. */
  get harmless(): readonly Callable[] {
    return this.callables.filter(({ isHarmless }) => isHarmless);
  }

  /** Calls with broken arguments of harmless operations: a tool that does not validate would execute them. */
  get brokenCalls(): Promise<readonly ProbeCall[]> {
    this.#brokenCalls ??= this.#makeBrokenCalls();
    return this.#brokenCalls;
  }

  async #makeBrokenCalls(): Promise<readonly ProbeCall[]> {
    const callables = this.harmless.slice(0, MAX_BROKEN.all);
    const each = Math.min(MAX_BROKEN.each, Math.floor(MAX_BROKEN.all / callables.length));
    const found = await Promise.all(
      callables.map(async ({ tool, arguments: args, caller }) => {
        const maker = await ArgumentMaker.for(tool.inputSchema, schemaDeadline());
        return maker.invalid(args, each).map(broken => ({ operation: tool.name, arguments: broken, caller }));
      }),
    );
    return found.flat();
  }

  /** Calls of harmless operations with valid arguments that hold hostile texts. */
  get hostileCalls(): Promise<readonly ProbeCall[]> {
    this.#hostileCalls ??= this.#makeHostileCalls();
    return this.#hostileCalls;
  }

  /** With many operations, each gets some of the texts, and all together get each text. */
  async #makeHostileCalls(): Promise<readonly ProbeCall[]> {
    const callables = this.harmless.slice(0, MAX_HOSTILE);
    const each = Math.min(HOSTILE_TEXTS.length, Math.floor(MAX_HOSTILE / callables.length));
    const found = await Promise.all(
      callables.map(async ({ tool, arguments: args, caller }, index) => {
        const maker = await ArgumentMaker.for(tool.inputSchema, schemaDeadline());
        const first = (index * each) % HOSTILE_TEXTS.length;
        const calls = [...HOSTILE_TEXTS.slice(first), ...HOSTILE_TEXTS.slice(0, first)].flatMap(text => {
          const hostile = maker.withText(args, text);
          return hostile ? [{ operation: tool.name, arguments: hostile, caller }] : [];
        });
        return calls.slice(0, each);
      }),
    );
    return found.flat();
  }

  /** The operations whose first call ended in a result, and neither asked for consent nor subscribed. */
  async answeredOperations(): Promise<ReadonlySet<string>> {
    await this.finish();
    const samples = this.#samples ?? [];
    const sent = await Promise.all(samples.map(({ callable, sent }) => (callable ? sent : null)));
    const names = samples.map(({ call }) => call.operation);
    return new Set(names.filter((_, index) => isPlain(sent[index] ?? null)));
  }

  #makeSamples(): readonly Sample[] {
    const { prober, cases, callables } = this;
    const isFollowed = prober.options.wants('TOOL-SUB');
    const isFirst = new Set<string>();
    const callableOf = (operation: string) => {
      if (isFirst.has(operation)) return undefined;
      isFirst.add(operation);
      return callables.find(({ tool }) => tool.name === operation);
    };
    const threads = new Map<string | undefined, string>();
    for (const [, { thread }] of cases)
      if (thread !== undefined) threads.set(thread, `thread_${randomUUID()}`);
    const written = cases.map(([index, { operation, arguments: args, offers, caller, thread }]) => {
      const checks = [...new Set(offers.flatMap(offer => SHOWN_BY[offer]))];
      const plan: ProbePlan = { id: `case ${index}`, checks, case: index };
      const call = {
        operation,
        arguments: args,
        caller,
        isFollowed: isFollowed || offers.includes('subscription'),
        ...(thread !== undefined && { fields: { group_id: threads.get(thread) } }),
      };
      return new Sample(plan, prober.client(plan), call, callableOf(operation), thread);
    });
    const others = callables.filter(({ tool }) => !isFirst.has(tool.name));
    const left = others.length - MAX_OPERATIONS;
    if (left > 0) prober.warn(`${left} more operations were not called (limit: ${MAX_OPERATIONS})`);
    const client = prober.client(this.plan);
    const examples = others.slice(0, MAX_OPERATIONS).map(callable => {
      const { tool, arguments: args, caller } = callable;
      const call = { operation: tool.name, arguments: args, caller, isFollowed };
      return new Sample(this.plan, client, call, callableOf(tool.name));
    });
    return [...written, ...examples];
  }

  /** A silent operation costs a whole window: after a few of them only cases are called. */
  async #callAll(samples: readonly Sample[]): Promise<void> {
    let silent = 0;
    let skipped = 0;
    const callOne = async (sample: Sample) => {
      const { plan, client, call, callable } = sample;
      if (silent >= MAX_SILENT && plan.case === undefined) {
        skipped++;
        return sample.resolve(null);
      }
      const made = client.send(call);
      sample.resolve(made);
      await Promise.all([made.finish(), callable?.isHarmless && this.#callAgain(sample, made)]);
      if (made.callbacks.length === 0) silent++;
    };
    const turns = new Map<string, Promise<void>>();
    await forEachConcurrently(samples, CONCURRENCY, sample => {
      const { thread } = sample;
      if (thread === undefined) return callOne(sample);
      const turn = (turns.get(thread) ?? Promise.resolve()).then(() => callOne(sample));
      turns.set(thread, turn);
      return turn;
    });
    if (skipped > 0)
      this.prober.warn(`${skipped} more operations were not called: ${silent} did not respond in time`);
    await this.#warnOfErrors(samples);
  }

  /** What passed with errors alone is worth less: said of the selected operations, and of all if none did anything else. */
  async #warnOfErrors(samples: readonly Sample[]): Promise<void> {
    const results = await Promise.all(
      samples.map(async ({ call, sent }) => ({ name: call.operation, error: (await sent)?.error ?? null })),
    );
    const byName = [...groupBy(results, ({ name }) => [name]).values()];
    const failed = byName
      .filter(own => own.every(({ error }) => error !== null))
      .flatMap(([first]) => first ?? []);
    const isWritten = (name: string) => this.cases.some(([, { operation }]) => operation === name);
    const told = failed.filter(
      ({ name }) => !isWritten(name) && (failed.length === byName.length || this.selected.includes(name)),
    );
    const [first] = told;
    if (!first) return;
    const names = joinFirst(
      told.map(({ name }) => name),
      MAX_NAMED,
    );
    this.prober.warn(
      visibleLine(
        `nothing but errors was seen of ${names} (${excerpt(first.error ?? '')}), so what passed says little about results: write cases with arguments that succeed (--cases); earlier cases of the same thread can prepare them`,
      ),
    );
  }

  /** A followed subscription may end without a cancel, so a second call tests the cancel. */
  async #callAgain({ call }: Sample, first: SentCall): Promise<void> {
    const { prober } = this;
    if (!prober.options.wants('TOOL-SUB')) return;
    await first.waitFor(['tool_result']);
    if (prober.isAborted || !first.isSubscription) return;
    const client = prober.client({ id: `subscription ${call.operation}`, checks: [] });
    await client.call({ ...call, isFollowed: false });
  }

  async #pickOperation(): Promise<ProbeCall | null> {
    void this.finish();
    const order = this.callables.map(({ tool }) => tool.name);
    const ranking = (this.#samples ?? [])
      .flatMap(({ callable, sent }) => (callable?.isHarmless ? [{ callable, rank: this.#rank(sent) }] : []))
      .sort((one, other) => order.indexOf(one.callable.tool.name) - order.indexOf(other.callable.tool.name));
    let best: { readonly call: ProbeCall; readonly rank: number } | null = null;
    for (const { callable, rank: coming } of ranking) {
      const rank = await coming;
      const { tool, arguments: args, caller } = callable;
      const call = { operation: tool.name, arguments: args, caller };
      if (rank === 0) return call;
      if (rank !== null && (best === null || rank < best.rank)) best = { call, rank };
    }
    return best?.call ?? null;
  }

  /** How well an operation serves for all other probes, from 0; null if it does not. */
  async #rank(sent: Promise<SentCall | null>): Promise<number | null> {
    const call = await sent;
    if (!call) return null;
    await call.waitFor(['tool_result', 'user_choice', 'oauth']);
    if (call.hasReceived('oauth')) return null;
    if (call.hasReceived('user_choice')) return 2;
    if (call.isSubscription) return 3;
    if (!call.hasReceived('tool_result')) return 4;
    return call.error === null ? 0 : 1;
  }
}

function isPlain(call: SentCall | null): boolean {
  return call?.hasReceived('tool_result') === true && !call.hasReceived('oauth') && !call.isSubscription;
}
