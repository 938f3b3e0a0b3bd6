import type { RequirementId } from '../protocol/requirements.js';
import type { Toolset } from '../protocol/toolset.js';
import type { Stimulus } from './call.js';
import type { Callable } from './callables.js';
import type { Desk } from './desk.js';
import type { Prober } from './prober.js';
import type { Trials } from './trials.js';

/** What a probe works with. */
export interface Target {
  readonly desk: Desk;
  readonly toolset: Toolset | null;
  readonly callables: readonly Callable[];
  /** Calls every operation that may be called, once and for all probes. */
  readonly tryAll: () => Trials;
}

/** One thing that a check tries. */
export interface Probe {
  readonly id: string;
  /** What it shows of any tool that it can be tried with. */
  readonly checks: readonly RequirementId[];
  /** What it may show besides, where the tool offers it. */
  readonly shows?: readonly RequirementId[];
  /** It disturbs others, and is tried last, alone. */
  readonly alone?: true;
  /** Whether the tool offers what it is about; always, unless told. */
  readonly isFor?: (target: Target) => boolean | Promise<boolean>;
  readonly run: (prober: Prober, target: Target) => Promise<void>;
}

/** A valid call of what everything is tried with; null where nothing may be called. */
export async function operationOf({ tryAll }: Target): Promise<Stimulus | null> {
  const callable = await tryAll().workhorse;
  return callable && { operation: callable.tool.name, arguments: callable.arguments };
}

/** What a probe does that makes calls: nothing is sent where nothing may be called. */
export function withOperation(
  run: (prober: Prober, operation: Stimulus, target: Target) => Promise<void>,
): Probe['run'] {
  return async (prober, target) => {
    const operation = await operationOf(target);
    if (operation) await run(prober, operation, target);
  };
}
