import { randomUUID } from 'node:crypto';
import { closeThread } from '../../runtime/notices.js';
import { type Probe, withOperation } from '../probe.js';
import { HOSTILE_IDS } from './hostile-ids.js';

/** Threads that are over: known, known for a second time, unknown, and made to traverse paths. */
export const close: Probe = {
  id: 'close',
  checks: ['TOOL-CLOSE'],
  run: async (prober, target) => {
    const { wire, base } = target.desk;
    const unknown = [`thread_${randomUUID()}`, ...HOSTILE_IDS];
    await Promise.all(unknown.map(thread => closeThread(wire, base, thread)));
    await closeKnown(prober, target);
  },
};

const closeKnown = withOperation(async (prober, operation, { desk: { wire, base } }) => {
  const { thread } = await prober.call(operation);
  await closeThread(wire, base, thread);
  await closeThread(wire, base, thread);
});
