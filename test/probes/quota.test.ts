import { expect, test } from 'vitest';
import { Quota } from '../../src/check/probes/listener.js';
import { createLog } from '../../src/events/log.js';

test('threats, row 15: one quota counts posts and bytes, and warns once when it is used up', () => {
  const told: string[] = [];
  const log = createLog(() => 0);
  log.subscribe(event => event.kind === 'warned' && told.push(event.message));
  const quota = new Quota(log, { callbacks: 3, bytes: 100 }, 'in all');
  expect([40, 40, 40, 1].map(size => quota.admits(size))).toEqual([true, true, false, false]);
  expect(told).toEqual(['more than 3 callbacks, or 100 bytes, came in all; the rest is ignored']);
});
