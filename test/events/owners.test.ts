import { expect, test } from 'vitest';
import type { Event } from '../../src/events/events.js';
import { History, Owners } from '../../src/events/history.js';
import {
  acknowledged,
  arrives,
  call,
  EVENT,
  eventsOf,
  KEY,
  lost,
  resultArrives,
  untrackedRequest,
} from './build.js';

function ownersOf(events: readonly Event[]) {
  const history = new History();
  for (const event of events) history.apply(event);
  return new Owners(history);
}

/** An answer need not say whose it is. */
const nameless = (event: Event): Event =>
  event.kind === 'response' || event.kind === 'broken' ? ({ ...event, calls: undefined } as Event) : event;

test('an answer belongs to whoever made the request, though it does not name them', () => {
  const events = eventsOf(untrackedRequest('discovery'), call(), acknowledged()).map(nameless);
  const owners = ownersOf(events);
  expect(events.map(event => owners.of(event))).toEqual([[null], [null], [KEY], [KEY]]);
});

test('requests are remembered until they have their answer, however many there are', () => {
  const days = Array.from({ length: 5_000 }, (_, index) => arrives(EVENT, { leg: `event-${index}` }));
  const events = eventsOf(call(), acknowledged(), resultArrives({ subscription: true }), ...days);
  const owners = ownersOf(events);
  const waiting = events.map(event => {
    owners.of(event);
    return owners.waiting;
  });
  expect(Math.max(...waiting)).toBe(1);
  expect(waiting.at(-1)).toBe(0);
});

test('one that broke is remembered no longer; one that has no answer is', () => {
  const owners = ownersOf([]);
  for (const event of eventsOf(call(), lost(), call({ attempt: 2 }))) owners.of(event);
  expect(owners.waiting).toBe(1);
});
