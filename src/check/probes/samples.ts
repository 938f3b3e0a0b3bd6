import { randomUUID } from 'node:crypto';
import type { Case, Offer } from '../../fixtures/check-files.js';
import type { RequirementId } from '../../protocol/requirements.js';
import type { Toolset } from '../../protocol/toolset.js';
import { forEachConcurrently, groupBy } from '../../util/collections.js';
import { excerpt, joinFirst } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import { type Callable, callablesOf, MAX_NAMED, type Permission } from './callables.js';
import type { ProbeCall, ProbePlan } from './probe-call.js';
import type { ProbeClient, Prober } from './prober.js';
import type { SentCall } from './sent-call.js';

/** A case, and its position among all of them. */
type IndexedCase = readonly [index: number, written: Case];

interface SampleOptions extends Permission {
  /** Whether rules are tried again: then only operations that may be called repeatedly are called. */
  readonly isRepetition: boolean;
}

/** Maximum number of operations without a case that are called at a time. */
const CONCURRENCY = 8;

/** Maximum number of operations without a case that are called. */
const MAX_OPERATIONS = 25;

/** After this many silent operations, the rest is skipped. */
const MAX_SILENT_OPERATIONS = 3;

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
  #resolve: (sent: SentCall | null) => void = () => {};

  constructor(
    readonly plan: ProbePlan,
    readonly call: ProbeCall,
    private readonly client: ProbeClient,
  ) {
    this.sent = new Promise(resolve => {
      this.#resolve = resolve;
    });
  }

  send(): SentCall {
    const sent = this.client.send(this.call);
    this.#resolve(sent);
    return sent;
  }

  skip(): void {
    this.#resolve(null);
  }
}

/** One for each case, with a plan of its own. */
function samplesOfCases(cases: readonly IndexedCase[], prober: Prober): readonly Sample[] {
  const isFollowed = prober.check.options.wants('TOOL-SUB');
  const names = new Set(cases.flatMap(([, { thread }]) => thread ?? []));
  const threads = new Map([...names].map(name => [name, `thread_${randomUUID()}`]));
  return cases.map(([index, { operation, arguments: args, offers, caller, thread }]) => {
    const checks = [...new Set(offers.flatMap(offer => SHOWN_BY[offer]))];
    const plan: ProbePlan = { id: `case ${index}`, checks, case: index };
    const call = {
      operation,
      arguments: args,
      caller,
      isFollowed: isFollowed || offers.includes('subscription'),
      ...(thread !== undefined && { fields: { group_id: threads.get(thread) } }),
    };
    return new Sample(plan, call, prober.client(plan));
  });
}

/** One for each operation, all of the same plan. */
function samplesOfExamples(
  callables: readonly Callable[],
  plan: ProbePlan,
  prober: Prober,
): readonly Sample[] {
  const isFollowed = prober.check.options.wants('TOOL-SUB');
  const client = prober.client(plan);
  return callables.map(
    ({ tool, arguments: args, caller }) =>
      new Sample(plan, { operation: tool.name, arguments: args, caller, isFollowed }, client),
  );
}

/**
 * Calls every permitted operation once, with the arguments of its cases or example arguments; the cases first. The calls start when their
 * end or the operation is first requested.
 */
export class SampleCalls {
  /** The operations that may be called repeatedly. */
  readonly harmless: readonly Callable[];
  /** The first sample of each operation, in the order of the toolset. */
  readonly #firstOf: ReadonlyMap<Sample, Callable>;
  #casesEnded: Promise<void> | undefined;
  #finished: Promise<void> | undefined;
  #silent = 0;
  #operation: Promise<ProbeCall | null> | undefined;

  /** @param selected the names given with --operation */
  private constructor(
    private readonly prober: Prober,
    private readonly callables: readonly Callable[],
    private readonly samples: readonly Sample[],
    private readonly selected: readonly string[],
  ) {
    this.harmless = callables.filter(({ isHarmless }) => isHarmless);
    this.#firstOf = new Map(
      callables.flatMap(callable => {
        const first = samples.find(({ call }) => call.operation === callable.tool.name);
        return first ? [[first, callable]] : [];
      }),
    );
  }

  /** @param plan the plan of the calls without a case @throws ProtocolCliError `unknown-operation`, `decision-needed` */
  static async of(prober: Prober, plan: ProbePlan, toolset: Toolset | null, options: SampleOptions) {
    if (!toolset) return new SampleCalls(prober, [], [], []);
    const { operations, isRepetition } = options;
    const { callables: permitted, warnings } = await callablesOf(toolset, options);
    for (const message of warnings) prober.check.warn(message);
    const callables = permitted.filter(({ isHarmless }) => isHarmless || !isRepetition);
    const isCallable = ([, { operation }]: IndexedCase) =>
      callables.some(({ tool }) => tool.name === operation);
    const cases = [...options.cases.entries()].filter(each => isCallable(each) || !isRepetition);
    const withoutCase = callables.filter(({ tool }) =>
      cases.every(([, { operation }]) => operation !== tool.name),
    );
    const samples = [
      ...samplesOfCases(cases, prober),
      ...samplesOfExamples(withoutCase.slice(0, MAX_OPERATIONS), plan, prober),
    ];
    return new SampleCalls(prober, callables, samples, operations);
  }

  /**
   * Calls the cases at the first time, one after another, in their order: one may change what another reads. Resolves when all have ended.
   * @param onCase called before each case
   */
  callCases(onCase: (done: number, total: number) => void = () => {}): Promise<void> {
    this.#casesEnded ??= this.#callCases(onCase);
    return this.#casesEnded;
  }

  async #callCases(onCase: (done: number, total: number) => void): Promise<void> {
    const cases = this.samples.filter(isCase);
    for (const [index, sample] of cases.entries()) {
      onCase(index, cases.length);
      await this.#call(sample);
    }
  }

  /** Makes the calls, unless they are made already. */
  start(): void {
    void this.finish();
  }

  /** Makes the calls at the first time. Resolves when all have ended. */
  finish(): Promise<void> {
    this.#finished ??= this.#callAll();
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

  /** The operations whose first call ended in a result, and neither asked for consent nor subscribed. */
  async answeredOperations(): Promise<ReadonlySet<string>> {
    await this.finish();
    const names = new Set<string>();
    for (const [{ sent }, { tool }] of this.#firstOf) if (hasPlainResult(await sent)) names.add(tool.name);
    return names;
  }

  /** A silent operation costs a whole window: after a few of them only cases are called. */
  async #callAll(): Promise<void> {
    const { check } = this.prober;
    const left = this.callables.length - this.#firstOf.size;
    if (left > 0) check.warn(`${left} more operations were not called (limit: ${MAX_OPERATIONS})`);
    await this.callCases();
    let skipped = 0;
    await forEachConcurrently(this.samples, CONCURRENCY, async sample => {
      const isExample = !isCase(sample);
      if (isExample && this.#silent >= MAX_SILENT_OPERATIONS) {
        skipped++;
        return sample.skip();
      }
      await Promise.all([isExample && this.#call(sample), this.#callAgain(sample)]);
    });
    if (skipped > 0)
      check.warn(`${skipped} more operations were not called: ${this.#silent} did not respond in time`);
    await this.#warnOfErrors();
  }

  async #call(sample: Sample): Promise<void> {
    const sent = sample.send();
    await sent.finish();
    if (sent.callbacks.length === 0) this.#silent++;
  }

  /** What passed with errors alone is worth less: said of the selected operations, and of all if none did anything else. */
  async #warnOfErrors(): Promise<void> {
    const { samples } = this;
    const results = await Promise.all(
      samples.map(async ({ call, sent }) => ({ name: call.operation, error: (await sent)?.error ?? null })),
    );
    const byName = [...groupBy(results, ({ name }) => [name]).values()];
    const failed = byName
      .filter(own => own.every(({ error }) => error !== null))
      .flatMap(([first]) => first ?? []);
    const isWritten = (name: string) =>
      samples.some(sample => isCase(sample) && sample.call.operation === name);
    const reported = failed.filter(
      ({ name }) => !isWritten(name) && (failed.length === byName.length || this.selected.includes(name)),
    );
    const [first] = reported;
    if (!first) return;
    const names = joinFirst(
      reported.map(({ name }) => name),
      MAX_NAMED,
    );
    this.prober.check.warn(
      visibleLine(
        `nothing but errors was seen of ${names} (${excerpt(first.error ?? '')}), so what passed says little about results: write cases with arguments that succeed (--cases); earlier cases of the same thread can prepare them`,
      ),
    );
  }

  /** A followed subscription may end without a cancel, so a second call tests the cancel, if the operation may be called repeatedly. */
  async #callAgain(sample: Sample): Promise<void> {
    const { prober } = this;
    const { call, sent } = sample;
    if (!prober.check.options.wants('TOOL-SUB') || !this.#firstOf.get(sample)?.isHarmless) return;
    const first = await sent;
    await first?.waitFor(['tool_result']);
    if (prober.check.isAborted || !first?.isSubscription) return;
    const client = prober.client({ id: `subscription ${call.operation}`, checks: [] });
    await client.call({ ...call, isFollowed: false });
  }

  async #pickOperation(): Promise<ProbeCall | null> {
    void this.finish();
    const candidates = [...this.#firstOf]
      .filter(([, { isHarmless }]) => isHarmless)
      .map(([{ sent }, callable]) => ({ callable, rankPromise: this.#rank(sent) }));
    let best: { readonly call: ProbeCall; readonly rank: number } | null = null;
    for (const { callable, rankPromise } of candidates) {
      const rank = await rankPromise;
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

function isCase({ plan }: Sample): boolean {
  return plan.case !== undefined;
}

function hasPlainResult(call: SentCall | null): boolean {
  return call?.hasReceived('tool_result') === true && !call.hasReceived('oauth') && !call.isSubscription;
}
