import { expect, test } from 'vitest';
import { checkTranscript } from '../../src/check/report.js';
import { eventsOf } from '../events/build.js';
import { discovery, someCall } from './samples/parts.js';

const probe = someCall('probe', { operation: 'no_such_operation' });
const own = someCall('own');
test('where the word of a probe is lost, the runtime is not blamed for what it did', async () => {
  const events = eventsOf(
    discovery(),
    own.plannedFor([]),
    own.sent(),
    probe.sent(),
    probe.answered({ status: 400 }),
  );
  const statusOf = async (isWhole: boolean) =>
    (await checkTranscript(events, { only: new Set(['RT-FIELDS', 'RT-OP']), isWhole })).checks.map(
      ({ id, status }) => `${id} ${status}`,
    );
  expect(await statusOf(true)).toEqual(['RT-OP fail', 'RT-FIELDS pass']);
  expect(await statusOf(false)).toEqual(['RT-OP could-not-run', 'RT-FIELDS pass']);
});

test.each([
  ['a probe', probe.plannedFor([]), 'not-applicable'],
  ['nobody', [], 'fail'],
] as const)('an unknown operation that %s planned', async (_, plan, status) => {
  const events = eventsOf(discovery(), [...plan], probe.sent(), probe.answered({ status: 400 }));
  const { checks } = await checkTranscript(events, { only: new Set(['RT-OP', 'TOOL-UNKNOWN-OP']) });
  expect(checks.map(check => `${check.id} ${check.status}`)).toEqual([
    'TOOL-UNKNOWN-OP warn',
    `RT-OP ${status}`,
  ]);
});
