import { expect, test } from 'vitest';
import { CallLog } from '../../../src/events/history.js';
import { concerning } from '../../../src/render/wire.js';
import {
  acknowledged,
  at,
  call,
  eventsOf,
  KEY,
  loaded,
  type Moment,
  refused,
  resultArrives,
  untrackedRequest,
} from '../../events/build.js';

/** The legs of what concerns the call, and the kind of what has none. */
function concerningLegs(...parts: readonly (readonly Moment[])[]): string[] {
  const book = new CallLog();
  for (const event of eventsOf(...parts)) book.apply(event);
  const exchange = book.history.exchanges.get(KEY);
  if (!exchange) throw new Error('the story has no call');
  return concerning(book, exchange).map(event => ('leg' in event ? (event.leg ?? '') : event.kind));
}

/** How an origin is asked for its toolset. */
function asked(leg: string, origin: string): Moment[] {
  const url = `${origin}/.well-known/rap-toolset`;
  return untrackedRequest('discovery').map(
    moment => ({ ...moment, leg, ...(moment.kind === 'request' && { url }) }) as Moment,
  );
}

const own = () => asked('own', 'http://127.0.0.1:3001');

/** A discovery somewhere else. */
const foreign = (): Moment[] => [
  ...asked('foreign', 'http://127.0.0.1:9'),
  ...loaded({ base: 'http://127.0.0.1:9' }).map(
    moment => ({ ...moment, endpoint: 'http://127.0.0.1:9/invoke' }) as Moment,
  ),
];

test('its own events and the discovery of its tool, in the order in which they happened', () => {
  expect(concerningLegs(foreign(), own(), loaded(), call(), acknowledged())).toEqual([
    'own',
    'own',
    'loaded',
    'try-1',
    'try-1',
  ]);
});

test('where nothing tells whose a discovery is, each of them', () => {
  expect(concerningLegs(own(), call())).toEqual(['own', 'own', 'try-1']);
});

test('what came to no call while this one waited', () => {
  const stray = (leg: string) => refused('wrong-address', 404, { leg });
  const legs = concerningLegs(
    at(1, stray('before')),
    at(2, call()),
    at(3, stray('meanwhile')),
    at(4, resultArrives()),
    at(5, stray('after')),
  );
  expect(legs).toEqual(['try-1', 'meanwhile', 'meanwhile', 'back-1', 'back-1']);
});
