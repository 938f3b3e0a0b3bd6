import { isTaken } from '../mailbox.js';
import { type Probe, withOperation } from '../probe.js';

/** A listener that takes a callback and says nothing, until the tool gives up or the connection breaks. */
export const listenerHangs: Probe = {
  id: 'listener-hangs',
  checks: ['TOOL-RETRY'],
  run: withOperation(async (prober, operation) => {
    const call = prober.send({ ...operation, answers: ['hang', 200] });
    if (await prober.sees(call, isTaken)) await prober.finish(call);
  }),
};
