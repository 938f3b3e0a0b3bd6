import { isTaken } from '../mailbox.js';
import { type Probe, withOperation } from '../probe.js';

/** A listener that cannot take a callback at first. */
export const listenerFails: Probe = {
  id: 'listener-fails',
  checks: ['TOOL-RETRY'],
  run: withOperation(async (prober, operation) => {
    const call = prober.send({ ...operation, answers: [500, 500, 200] });
    if (await prober.sees(call, isTaken)) await prober.finish(call);
  }),
};
