import { expect, test } from 'vitest';
import { RoundTrips, roundTripsIn } from '../../src/events/round-trips.js';
import { acknowledged, call, eventsOf, lost, resultArrives } from './build.js';

test.each([
  ['that are answered', [...call(), ...acknowledged(), ...resultArrives()]],
  ['that are lost', [...call(), ...lost()]],
])('round trips %s are the same one by one as all at once', (_, moments) => {
  const events = eventsOf(moments);
  const trips = new RoundTrips();
  for (const [index, event] of events.entries()) {
    trips.add(event);
    const whole = roundTripsIn(events.slice(0, index + 1));
    expect([...trips.list]).toEqual([...whole.values()]);
    expect(trips.size).toBe(whole.size);
  }
});
