import type { RequirementId } from '../protocol/requirements.js';
import { recordPlan } from './desk.js';
import { inLanes } from './lanes.js';
import type { Probe, Target } from './probe.js';
import { proberFor } from './prober.js';

/** Enough for those that mostly wait, and few enough for a tool on a small machine to keep its time. */
const LANES = 6;

export interface Running {
  /** Requirements wanted: a probe that shows none of them is not run. */
  readonly wants: (id: RequirementId) => boolean;
  readonly onProgress: (done: number, total: number, probe: string) => void;
  /** Stops at once; what was seen so far is in the log. */
  readonly signal: AbortSignal;
}

/** Runs the probes that are wanted, side by side, and then one by one those that disturb. What is meant to be seen is told first. */
export async function runAll(probes: readonly Probe[], target: Target, options: Running): Promise<void> {
  const chosen = await chosenFrom(probes, target, options);
  for (const probe of chosen) recordPlan(target.desk.wire, probe);
  let done = 0;
  const run = async (probe: Probe) => {
    if (options.signal.aborted) return;
    await probe.run(proberFor(target.desk, probe), target);
    options.onProgress(++done, chosen.length, probe.id);
  };
  await inLanes(
    chosen.filter(({ alone }) => !alone),
    LANES,
    run,
  );
  await inLanes(
    chosen.filter(({ alone }) => alone),
    1,
    run,
  );
}

async function chosenFrom(
  probes: readonly Probe[],
  target: Target,
  { wants }: Running,
): Promise<readonly Probe[]> {
  const wanted = probes.filter(({ checks, shows = [] }) => [...checks, ...shows].some(wants));
  const offered = await Promise.all(wanted.map(async ({ isFor }) => isFor?.(target) ?? true));
  return wanted.filter((_, index) => offered[index]);
}
