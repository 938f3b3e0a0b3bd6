import { describe, expect, test } from 'vitest';
import type { Event } from '../../../src/events/events.js';
import { createLog } from '../../../src/events/log.js';
import type { Incoming } from '../../../src/http/request-body.js';
import { baseFor, headersOf, ServedRequest } from '../../../src/mock/intake.js';

const incoming: Incoming = {
  method: 'POST',
  target: '/cancel_tool_call',
  headers: { host: 'mock:3000', 'set-cookie': ['a', 'b'], accept: '*/*' },
  body: new Uint8Array(),
  remote: '127.0.0.1',
};

function served(purpose: 'cancel' | 'consent') {
  const events: Event[] = [];
  const log = createLog(() => 0);
  log.subscribe(event => events.push(event));
  const request = new ServedRequest(log, incoming, { purpose, about: { calls: ['k'], thread: 'g' } });
  return { events, request };
}

describe('a request as facts', () => {
  test('what came, and what it was answered: joined by their leg', () => {
    const { events, request } = served('cancel');
    expect(request.answer(200, { body: 'x' })).toEqual({ status: 200, body: 'x' });
    expect(events).toMatchObject([
      {
        kind: 'request',
        purpose: 'cancel',
        from: 'runtime',
        to: 'tool',
        url: '/cancel_tool_call',
        attempt: 1,
        calls: ['k'],
        thread: 'g',
      },
      { kind: 'response', status: 200, calls: ['k'], thread: 'g' },
    ]);
    const legs = events.map(event => ('leg' in event ? event.leg : null));
    expect(legs[0]).toBe(legs[1]);
  });

  test('a page has an unknown client', () => {
    expect(served('consent').events).toMatchObject([{ from: 'unknown' }]);
  });

  test('one that gets no answer', () => {
    const { events, request } = served('cancel');
    request.broken('PLANNED');
    expect(events.at(-1)).toMatchObject({ kind: 'broken', phase: 'answer', code: 'PLANNED', calls: ['k'] });
  });
});

test('headers are flat; our address is the one that was used', () => {
  expect(headersOf(incoming)).toEqual({ host: 'mock:3000', 'set-cookie': 'a,b', accept: '*/*' });
  expect(baseFor(incoming)).toBe('http://mock:3000');
});
