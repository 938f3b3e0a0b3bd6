import { type Probe, withOperation } from '../probe.js';

const CALLS = 8;

/** Calls at once, each with ids, a thread and a callback URL of its own. */
export const concurrent: Probe = {
  id: 'concurrent',
  checks: ['TOOL-ISOLATE'],
  run: withOperation(async (prober, operation) => {
    await Promise.all(Array.from({ length: CALLS }, () => prober.call(operation)));
  }),
};
