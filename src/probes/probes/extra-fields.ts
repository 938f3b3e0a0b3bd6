import { type Probe, withOperation } from '../probe.js';

const EXTRAS: readonly Readonly<Record<string, unknown>>[] = [
  { user_id: 'user_1', thread_ancestors: ['thread_root', 'thread_parent'] },
  { user_id: null, thread_ancestors: null },
  { 'x-unknown': { deep: [1, 2, 3] }, version: 99, constructor: 'none', ['__proto__']: { admin: true } },
];

/** Fields that are optional, and fields that nobody knows. */
export const extraFields: Probe = {
  id: 'extra-fields',
  checks: ['TOOL-EXTRA'],
  run: withOperation(async (prober, operation) => {
    await Promise.all(EXTRAS.map(fields => prober.call({ ...operation, fields })));
  }),
};
