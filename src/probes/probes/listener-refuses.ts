import { type Probe, withOperation } from '../probe.js';

/** How long nothing more may come, in ms. */
const QUIET_MS = 2_000;

/** A listener that will never take a callback. */
export const listenerRefuses: Probe = {
  id: 'listener-refuses',
  checks: ['TOOL-NORETRY'],
  run: withOperation(async (prober, operation, { desk: { windowMs } }) => {
    const call = prober.send({ ...operation, answers: [400] });
    const hasCome = await prober.sees(call, letters => letters.length > 0);
    if (hasCome) await prober.sees(call, letters => letters.length > 1, Math.min(QUIET_MS, windowMs));
  }),
};
