import { type BrokenValue, brokenValues } from '../../json-schema/broken-values.js';
import { onceEach } from '../../text/once-each.js';
import { type Callable, overAfter, SCHEMA_MS } from '../callables.js';
import { inLanes } from '../lanes.js';
import type { Probe, Target } from '../probe.js';

/** Of one operation, and of all of them. */
const MOST = { each: 6, all: 24 };

/** Arguments that break the `inputSchema`: only of what may be called, since a tool that does not look would do it. */
export const brokenArguments: Probe = {
  id: 'broken-arguments',
  checks: ['TOOL-BAD-ARGS', 'TOOL-VALIDATE', 'TOOL-ERRPREFIX', 'TOOL-NOLEAK'],
  isFor: async target => harmless(target).length === 0 || (await brokenCalls(target)).length > 0,
  run: async (prober, target) => {
    const calls = await brokenCalls(target);
    await inLanes(calls, MOST.each, ({ callable, broken }) =>
      prober.call({ operation: callable.tool.name, arguments: broken.value }),
    );
  },
};

interface BrokenCall {
  readonly callable: Callable;
  readonly broken: BrokenValue;
}

function harmless({ callables }: Target): readonly Callable[] {
  return callables.filter(({ isHarmless }) => isHarmless);
}

const brokenCalls = onceEach(async (target: Target): Promise<readonly BrokenCall[]> => {
  const callables = harmless(target).slice(0, MOST.all);
  const each = Math.min(MOST.each, Math.max(1, Math.floor(MOST.all / Math.max(1, callables.length))));
  const found = callables.map(async callable => {
    const values = await brokenValues(
      callable.tool.inputSchema,
      callable.arguments,
      each,
      overAfter(SCHEMA_MS),
    );
    return values.map(broken => ({ callable, broken }));
  });
  return (await Promise.all(found)).flat();
});
