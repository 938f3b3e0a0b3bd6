import { type Probe, withOperation } from '../probe.js';

/** Without a `call_id`, and with null: a model may not have given one. */
export const callId: Probe = {
  id: 'call-id',
  checks: ['TOOL-CALLID', 'TOOL-ALWAYS'],
  run: withOperation(async (prober, operation) => {
    const values = [null, undefined];
    await Promise.all(values.map(call_id => prober.call({ ...operation, fields: { call_id } })));
  }),
};
