import type { Case, Offer } from '../fixtures/cases/case.js';
import type { RequirementId } from '../protocol/requirements.js';
import type { Probed, Stimulus } from './call.js';
import type { Callable } from './callables.js';
import { type Deferred, deferred } from './deferred.js';
import type { Desk, Plan } from './desk.js';
import { inLanes } from './lanes.js';
import { type Prober, proberFor } from './prober.js';
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

const LANES = 4;

const SHOWN_BY: Readonly<Record<Offer, readonly RequirementId[]>> = {
  choice: ['TOOL-CHOICE'],
  oauth: ['TOOL-OAUTH'],
  subscription: ['TOOL-SUB'],
  view: [],
};

interface Trial {
  readonly prober: Prober;
  readonly stimulus: Stimulus;
  readonly sent: Deferred<Probed>;
}

/** @param plan of the calls that nobody has written down */
export function startTrials(desk: Desk, plan: Plan, { callables, cases }: Tried): Trials {
  const written = cases.map((each, index) => trialOf(proberFor(desk, planOf(each, index)), each));
  const prober = proberFor(desk, plan);
  const others = callables
    .filter(({ tool }) => !cases.some(({ operation }) => operation === tool.name))
    .map(({ tool, arguments: args }) => trialOf(prober, { operation: tool.name, arguments: args }));
  const trials = [...written, ...others];
  const finished = inLanes(trials, LANES, async each => {
    const call = each.prober.send(each.stimulus);
    each.sent.resolve(call);
    await each.prober.finish(call);
  });
  const firstOf = ({ tool }: Callable) => trials.find(({ stimulus }) => stimulus.operation === tool.name);
  const candidates = callables.flatMap(callable => {
    const first = firstOf(callable);
    return first ? [{ callable, call: first.sent.promise }] : [];
  });
  return { finished, workhorse: pickWorkhorse(desk, candidates) };
}

function trialOf(
  prober: Prober,
  { operation, arguments: args }: Pick<Case, 'operation' | 'arguments'>,
): Trial {
  return { prober, stimulus: { operation, arguments: args }, sent: deferred() };
}

/** The plan of a case, by its place in the list. */
export function planOf({ offers }: Case, index: number): Plan {
  return { id: `case ${index}`, checks: [...new Set(offers.flatMap(offer => SHOWN_BY[offer]))] };
}
