import { expect, test } from 'vitest';
import { quota } from '../../src/check/probes/prober.js';
import { createLog } from '../../src/events/log.js';

test('threats, row 15: one quota counts posts and bytes, and warns once when it is used up', () => {
  const told: string[] = [];
  const log = createLog(() => 0);
  log.subscribe(event => event.kind === 'warned' && told.push(event.message));
  const admits = quota(log, { callbacks: 3, bytes: 100 }, 'in all');
  expect([40, 40, 40, 1].map(admits)).toEqual([true, true, false, false]);
  expect(told).toEqual(['more than 3 callbacks, or 100 bytes, came in all; the rest is ignored']);
});
