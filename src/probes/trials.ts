import type { Case, Offer } from '../fixtures/cases/case.js';
import type { RequirementId } from '../protocol/requirements.js';
import type { Probed, Stimulus } from './call.js';
import type { Callable } from './callables.js';
import { type Deferred, deferred } from './deferred.js';
import type { Desk, Plan } from './desk.js';
import { inLanes } from './lanes.js';
import { type Prober, proberFor } from './prober.js';
import { callToCancel } from './second-call.js';
import { pickWorkhorse } from './workhorse.js';

/** Every operation that may be called, called: a case as it is written, the others with an example of their arguments. */
export interface Trials {
  /** What everything else is tried with, as soon as that is known; null where there is none. */
  readonly workhorse: Promise<Callable | null>;
  readonly finished: Promise<void>;
}

/** What there is to call. */
export interface Tried {
  readonly callables: readonly Callable[];
  readonly cases: readonly Case[];
}

const LANES = 8;
/** Operations that nobody has written down, of a large toolset; and how many of them may say nothing before it is taken for silent. */
const MOST = { operations: 25, silent: 3 };

const SHOWN_BY: Readonly<Record<Offer, readonly RequirementId[]>> = {
  choice: ['TOOL-CHOICE'],
  oauth: ['TOOL-OAUTH'],
  subscription: ['TOOL-SUB'],
  view: ['TOOL-POST'],
};

interface Trial {
  readonly prober: Prober;
  readonly stimulus: Stimulus;
  readonly sent: Deferred<Probed | null>;
  readonly isWritten: boolean;
}

/** @param plan of the calls that nobody has written down */
export function startTrials(desk: Desk, plan: Plan, { callables, cases }: Tried): Trials {
  const isFollowed = desk.wants('TOOL-SUB');
  const written = cases.map((each, index) => {
    const prober = proberFor(desk, planOf(each, index));
    return trialOf(prober, { ...each, isFollowed: isFollowed || each.offers.includes('subscription') }, true);
  });
  const prober = proberFor(desk, plan);
  const unwritten = callables.filter(({ tool }) => !cases.some(({ operation }) => operation === tool.name));
  const others = unwritten
    .slice(0, MOST.operations)
    .map(({ tool, arguments: args }) =>
      trialOf(prober, { operation: tool.name, arguments: args, isFollowed }, false),
    );
  const left = unwritten.length - others.length;
  if (left > 0) warn(desk, `${left} operations more were not called: ${MOST.operations} are enough`);
  const trials = [...written, ...others];
  const firstOf = ({ tool }: Callable) => trials.find(({ stimulus }) => stimulus.operation === tool.name);
  const repeatable = new Set(callables.filter(({ isHarmless }) => isHarmless).map(firstOf));
  const finished = tryAll(desk, trials, repeatable);
  const candidates = callables.flatMap(callable => {
    const first = firstOf(callable);
    return first ? [{ callable, call: first.sent.promise }] : [];
  });
  return { finished, workhorse: pickWorkhorse(desk, candidates) };
}

/**
 * Side by side. One that is silent costs a whole window, and a tool that is silent throughout is not waited for each time.
 * @param repeatable of the operations that may be called again, the first trial of each
 */
async function tryAll(
  desk: Desk,
  trials: readonly Trial[],
  repeatable: ReadonlySet<Trial | undefined>,
): Promise<void> {
  let silent = 0;
  let left = 0;
  await inLanes(trials, LANES, async trial => {
    const { prober, stimulus, sent, isWritten } = trial;
    if (silent >= MOST.silent && !isWritten) {
      left++;
      return sent.resolve(null);
    }
    const call = prober.send(stimulus);
    sent.resolve(call);
    const isTwice = repeatable.has(trial);
    await Promise.all([prober.finish(call), isTwice ? callToCancel(desk, stimulus, call) : null]);
    if (call.mailbox.letters.length === 0) silent++;
  });
  if (left > 0) warn(desk, `${left} operations more were not called: ${silent} said nothing in time`);
}

function warn({ wire, signal }: Desk, message: string): void {
  if (!signal.aborted) wire.log.emit({ kind: 'warned', message });
}

function trialOf(
  prober: Prober,
  { operation, arguments: args, isFollowed }: Pick<Stimulus, 'operation' | 'arguments' | 'isFollowed'>,
  isWritten: boolean,
): Trial {
  const stimulus = { operation, arguments: args, isFollowed };
  return { prober, stimulus, sent: deferred(), isWritten };
}

/** The plan of a case, by its place in the list. */
export function planOf({ offers }: Case, index: number): Plan {
  const checks = [...new Set(offers.flatMap(offer => SHOWN_BY[offer]))];
  return { id: `case ${index}`, checks, case: index };
}
