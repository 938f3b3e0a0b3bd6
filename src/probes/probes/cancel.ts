import { randomUUID } from 'node:crypto';
import { cancelToolCall, notify } from '../../runtime/notices.js';
import { type Desk, patienceOf } from '../desk.js';
import { type Probe, withOperation } from '../probe.js';
import { HOSTILE_IDS } from './hostile-ids.js';

/** Calls that are no longer wanted: known, known for a second time, unknown, and made to traverse paths. */
export const cancel: Probe = {
  id: 'cancel',
  checks: ['TOOL-CANCEL'],
  alone: true,
  run: async (prober, target) => {
    const { desk } = target;
    const unknown = [`call_${randomUUID()}`, ...HOSTILE_IDS];
    await Promise.all(unknown.map(id => cancelUnknown(desk, id)));
    await cancelKnown(prober, target);
  },
};

async function cancelUnknown(desk: Desk, id: string): Promise<void> {
  const message = { thread_id: id, tool_call_id: id };
  await notify(desk.wire, desk.base, { kind: 'cancel', message }, patienceOf(desk));
}

const cancelKnown = withOperation(async (prober, operation, { desk }) => {
  const { wire, base } = desk;
  const { key, id, thread, acknowledged } = prober.send(operation);
  await acknowledged;
  wire.log.emit({ kind: 'decided', what: 'cancel', by: 'policy', calls: [key] });
  for (let time = 0; time < 2; time++)
    await cancelToolCall(wire, base, { key, thread, id }, patienceOf(desk));
});
