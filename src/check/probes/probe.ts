import type { Toolset } from '../../protocol/toolset.js';
import type { ProbeCall, ProbePlan } from './probe-call.js';
import type { ProbeClient, Prober } from './prober.js';
import type { SampleCalls } from './samples.js';

/** The tool that a probe tests. */
export interface Target {
  readonly prober: Prober;
  readonly toolset: Toolset | null;
  readonly samples: SampleCalls;
}

/** One experiment of a check. `checks` are the requirements that it tests with any tool. */
export interface Probe extends ProbePlan {
  /** Requirements that it also tests, if the tool supports them. */
  readonly shows?: ProbePlan['checks'];
  /** It disturbs other probes, so it runs last and alone. */
  readonly alone?: true;
  /** Whether the probe applies to the tool; default: always. */
  readonly isFor?: (target: Target) => boolean | Promise<boolean>;
  readonly run: (client: ProbeClient, target: Target) => Promise<void>;
}

/** A probe that calls the sample operation, or does nothing without one. */
export function withOperation(
  run: (client: ProbeClient, operation: ProbeCall, target: Target) => Promise<void>,
): Probe['run'] {
  return async (client, target) => {
    const operation = await target.samples.operation;
    if (operation) await run(client, operation, target);
  };
}

/** A probe that calls the sample operation once with each of these changes. */
export function variants(changes: readonly Partial<ProbeCall>[]): Probe['run'] {
  return withOperation(async (client, operation) => {
    await Promise.all(changes.map(change => client.call({ ...operation, ...change })));
  });
}
