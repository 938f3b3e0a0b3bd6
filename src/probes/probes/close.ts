import { randomUUID } from 'node:crypto';
import { closeThread } from '../../runtime/notices.js';
import { type Desk, patienceOf } from '../desk.js';
import { type Probe, withOperation } from '../probe.js';
import { HOSTILE_IDS } from './hostile-ids.js';

/** Threads that are over: known, known for a second time, unknown, and made to traverse paths. */
export const close: Probe = {
  id: 'close',
  checks: ['TOOL-CLOSE'],
  alone: true,
  run: async (prober, target) => {
    const unknown = [`thread_${randomUUID()}`, ...HOSTILE_IDS];
    await Promise.all(unknown.map(thread => closeOne(target.desk, thread)));
    await closeKnown(prober, target);
  },
};

const closeKnown = withOperation(async (prober, operation, { desk }) => {
  const { thread } = await prober.call(operation);
  await closeOne(desk, thread);
  await closeOne(desk, thread);
});

async function closeOne(desk: Desk, thread: string): Promise<void> {
  await closeThread(desk.wire, desk.base, thread, patienceOf(desk));
}
