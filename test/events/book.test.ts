import { describe, expect, test } from 'vitest';
import { CallLog } from '../../src/events/call-log.js';
import { isUnderWay } from '../../src/events/exchange.js';
import {
  acknowledged,
  arrives,
  call,
  EVENT,
  eventsOf,
  INVOCATION,
  KEY,
  type Moment,
  resultArrives,
} from './build.js';

const OTHER = 'call_other';

/** The same of another call: its legs too are others. */
function elsewhere(moments: readonly Moment[]): Moment[] {
  return moments.map(moment => ({
    ...moment,
    calls: [OTHER],
    ...('leg' in moment && { leg: `other-${moment.leg}` }),
  })) as Moment[];
}

const other = elsewhere(call({ invocation: { ...INVOCATION, id: OTHER } }));

function bookOf(...parts: readonly (readonly Moment[])[]): CallLog {
  const book = new CallLog();
  for (const event of eventsOf(...parts)) {
    book.apply(event);
    const counted = [...book.history.exchanges.values()].filter(isUnderWay).map(({ key }) => key);
    expect([...book.underWay]).toEqual(counted);
  }
  return book;
}

describe('what is under way, after each event', () => {
  test('a call, until its result', () => {
    const book = bookOf(call(), acknowledged(), other, resultArrives());
    expect([...book.underWay]).toEqual([OTHER]);
  });

  test('a subscription, until its last event', () => {
    const opened = [call(), acknowledged(), resultArrives({ subscription: true })];
    const [news, last] = [
      arrives(EVENT, { leg: 'back-2' }),
      arrives({ ...EVENT, final: true }, { leg: 'back-3' }),
    ];
    expect([...bookOf(...opened, news).underWay]).toEqual([KEY]);
    expect([...bookOf(...opened, news, last).underWay]).toEqual([]);
  });

  test('a subscription, until its thread is closed', () => {
    const [closing] = call();
    const close = [{ ...closing, leg: 'close-1', purpose: 'close', calls: [] }] as unknown as Moment[];
    const book = bookOf(call(), acknowledged(), resultArrives({ subscription: true }), close);
    expect([...book.underWay]).toEqual([]);
  });
});

test('a call stands where it began, and what is no call nowhere', () => {
  const book = bookOf(call(), other, resultArrives());
  expect([KEY, OTHER, 'call_unknown'].map(key => book.placeOf(key))).toEqual([0, 1, -1]);
});
