import type { Stimulus } from '../call.js';
import { operationOf, type Probe } from '../probe.js';
import { unknownTo } from './unknown-operation.js';

/** What is no invocation: without an address nobody can be answered, with one somebody can. */
const UNREADABLE: readonly NonNullable<Stimulus['body']>[] = [
  () => '',
  () => '{"operation":',
  invocation => JSON.stringify([invocation]),
  () => 'null',
];

const INCOMPLETE: readonly NonNullable<Stimulus['fields']>[] = [
  { operation: undefined },
  { operation: 5, arguments: 'none' },
  { arguments: undefined },
  { arguments: ['none'] },
];

/** What is no invocation, and then one that is: whatever came, the next call is served. */
export const malformed: Probe = {
  id: 'malformed',
  checks: ['TOOL-MALFORMED'],
  alone: true,
  run: async (prober, target) => {
    const { toolset } = target;
    if (!toolset) return;
    // Nobody executes what there is not, however little they look at.
    const nothing = { operation: unknownTo(toolset), arguments: {} };
    await Promise.all(UNREADABLE.map(body => prober.send({ ...nothing, body }).acknowledged));
    await Promise.all(INCOMPLETE.map(fields => prober.call({ ...nothing, fields })));
    await prober.call((await operationOf(target)) ?? nothing);
  },
};
