import { isTaken } from '../mailbox.js';
import { type Probe, withOperation } from '../probe.js';

/** A listener that closes the connection instead of answering. */
export const listenerResets: Probe = {
  id: 'listener-resets',
  checks: ['TOOL-RETRY'],
  run: withOperation(async (prober, operation) => {
    const call = prober.send({ ...operation, answers: ['reset', 200] });
    if (await prober.sees(call, isTaken)) await prober.finish(call);
  }),
};
