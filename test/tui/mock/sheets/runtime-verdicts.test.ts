import { expect, test } from 'vitest';
import { Content } from '../../../../src/events/content.js';
import type { Event } from '../../../../src/events/events.js';
import { RuntimeVerdicts } from '../../../../src/tui/mock/tabs.js';
import { fakeClock } from '../../../support/fake-clock.js';

const MIB = 1024 * 1024;

function request(size: number): Event {
  return {
    kind: 'request',
    leg: 'l1',
    from: 'runtime',
    to: 'tool',
    purpose: 'invocation',
    method: 'POST',
    url: '/invoke',
    headers: {},
    attempt: 1,
    body: new Content(Buffer.alloc(size)),
    seq: 0,
    at: 0,
  };
}

test.each([
  ['judged unasked', MIB, false],
  ['left to whoever reads of it, where it is large', MIB + 1, true],
])('a call is %s', (_, size, isLeft) => {
  const verdicts = new RuntimeVerdicts(
    fakeClock(),
    async () => {},
    () => {},
  );
  const file = { events: [request(size)], forgotten: 0, discovery: [] };
  expect(verdicts.glance('a', file)).toEqual({ broken: 0, isLeft });
});
