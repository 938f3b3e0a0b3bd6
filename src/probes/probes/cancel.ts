import { randomUUID } from 'node:crypto';
import { cancelToolCall, notify } from '../../runtime/notices.js';
import type { Desk } from '../desk.js';
import { type Probe, withOperation } from '../probe.js';
import { HOSTILE_IDS } from './hostile-ids.js';

/** Calls that are no longer wanted: known, known for a second time, unknown, and made to traverse paths. */
export const cancel: Probe = {
  id: 'cancel',
  checks: ['TOOL-CANCEL'],
  run: async (prober, target) => {
    const { desk } = target;
    const unknown = [`call_${randomUUID()}`, ...HOSTILE_IDS];
    await Promise.all(unknown.map(id => cancelUnknown(desk, id)));
    await cancelKnown(prober, target);
  },
};

async function cancelUnknown({ wire, base }: Desk, id: string): Promise<void> {
  await notify(wire, base, { kind: 'cancel', message: { thread_id: id, tool_call_id: id } });
}

const cancelKnown = withOperation(async (prober, operation, { desk: { wire, base } }) => {
  const { key, id, thread, acknowledged } = prober.send(operation);
  await acknowledged;
  wire.log.emit({ kind: 'decided', what: 'cancel', by: 'policy', calls: [key] });
  await cancelToolCall(wire, base, { key, thread, id });
  await cancelToolCall(wire, base, { key, thread, id });
});
