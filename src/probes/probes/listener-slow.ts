import { type Probe, withOperation } from '../probe.js';

/** A listener that takes its time: a tool waits for the answer, and does not send twice. */
export const listenerSlow: Probe = {
  id: 'listener-slow',
  checks: ['TOOL-ONCE'],
  run: withOperation(async (prober, operation) => {
    await prober.call({ ...operation, answers: ['slow'] });
  }),
};
