import { describe, expect, test } from 'vitest';
import { History } from '../../src/events/history.js';
import { createLog } from '../../src/events/log.js';
import { subscriptionEnd } from '../../src/runtime/runtime.js';
import { arrives, call, canceled, closed, EVENT, KEY, type Moment, resultArrives } from '../events/build.js';

/** A log with a story told so far, and whether the end has come. */
function following(...story: Moment[][]) {
  const log = createLog(() => 0);
  const history = new History();
  log.subscribe(event => history.apply(event));
  const tell = (...parts: Moment[][]) => {
    for (const { at: _, ...fact } of parts.flat()) log.emit(fact);
  };
  tell(...story);
  const state = { isOver: false };
  const end = subscriptionEnd(log, history, KEY).then(() => {
    state.isOver = true;
  });
  return { tell, end, state };
}

const opened = [call(), resultArrives({ subscription: true })];

test('events do not end it; the last one does', async () => {
  const { tell, end, state } = following(...opened);
  tell(arrives(EVENT, { leg: 'a' }), arrives(EVENT, { leg: 'b' }));
  await Promise.resolve();
  expect(state.isOver).toBe(false);
  tell(arrives({ ...EVENT, final: true }, { leg: 'c' }));
  await end;
});

describe('it is over', () => {
  test.each([
    ['with a cancel', canceled()],
    ['with its thread', closed()],
  ])('%s', async (_, moments) => {
    const { tell, end } = following(...opened);
    tell(moments);
    await end;
  });

  test.each([
    ['where nothing was subscribed to', [call(), resultArrives()]],
    ['where there was no call', []],
  ])('at once %s', async (_, story) => {
    await following(...story).end;
  });
});
