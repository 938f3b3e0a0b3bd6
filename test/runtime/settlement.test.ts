import { describe, expect, test } from 'vitest';
import type { Exchange } from '../../src/events/exchange.js';
import { History } from '../../src/events/history.js';
import { createLog } from '../../src/events/log.js';
import { settlement } from '../../src/runtime/runtime.js';
import {
  acknowledged,
  arrives,
  CHOICE,
  call,
  canceled,
  chose,
  KEY,
  type Moment,
  OAUTH,
  resultArrives,
} from '../events/build.js';
import { fakeClock } from '../support/fake-clock.js';

/** A sent call, with a caller waiting for its end. */
function waiting({
  timeoutMs = 1_000,
  pausesForUser = true,
  stopWaiting,
}: {
  timeoutMs?: number;
  pausesForUser?: boolean;
  stopWaiting?: (exchange: Exchange) => boolean;
} = {}) {
  const clock = fakeClock();
  const log = createLog(() => clock.now());
  const history = new History();
  log.subscribe(event => history.apply(event));
  let isOver = false;
  const over = settlement(log, history, clock, {
    key: KEY,
    timeoutMs,
    pausesForUser,
    ...(stopWaiting && { stopWaiting }),
  }).then(() => {
    isOver = true;
  });
  const happens = (...parts: readonly Moment[][]) => {
    for (const fact of parts.flat()) log.emit(fact);
  };
  happens(call());
  const isOverNow = async () => {
    await new Promise(setImmediate);
    return isOver;
  };
  return { clock, history, happens, over, isOverNow, settled: () => history.first?.settled };
}

test('a result ends the wait and the timer', async () => {
  const { clock, happens, over, settled } = waiting();
  happens(acknowledged(), resultArrives());
  await over;
  expect([settled()?.by, clock.pending()]).toEqual(['result', 0]);
});

test('without a user, the timeout includes the wait for a consent', async () => {
  const { clock, happens, over, settled } = waiting({ pausesForUser: false });
  happens(acknowledged(), arrives(OAUTH));
  clock.advance(1_000);
  await over;
  expect(settled()).toMatchObject({ by: 'timeout', afterMs: 1_000 });
});

test('a cancel ends the wait and the timer', async () => {
  const { happens, over, settled } = waiting();
  happens(canceled());
  await over;
  expect(settled()?.by).toBe('cancel');
});

describe('RT-TIMEOUT: a timeout is recorded as an event', () => {
  test('after the given time, with its window', async () => {
    const { clock, over, settled } = waiting({ timeoutMs: 5_000 });
    clock.advance(5_000);
    await over;
    expect(settled()).toEqual({ by: 'timeout', at: 5_000, afterMs: 5_000 });
  });

  test('never for 0', async () => {
    const { clock, isOverNow } = waiting({ timeoutMs: 0 });
    clock.advance(1e9);
    expect(await isOverNow()).toBe(false);
  });

  test('an event that does not settle the call does not end the wait', async () => {
    const { happens, isOverNow } = waiting();
    happens(acknowledged(), arrives({ type: 'nonsense' }), resultArrives({ id: 'other' }, { leg: 'b2' }));
    expect(await isOverNow()).toBe(false);
  });
});

describe('RT-PENDING: the timeout pauses while a user decides', () => {
  test.each([
    ['oauth, until the result', OAUTH, resultArrives({}, { leg: 'b2' }), 'result'],
    ['a choice, until it is made', CHOICE, chose(1), undefined],
  ])('%s', async (_, question, answer, by) => {
    const { clock, happens, settled } = waiting({ timeoutMs: 1_000 });
    clock.advance(900);
    happens(arrives(question));
    clock.advance(1_000_000);
    expect(settled()).toBeNull();
    happens(answer);
    clock.advance(99);
    expect(settled()?.by).toBe(by);
    clock.advance(1);
    expect(settled()?.by).toBe(by ?? 'timeout');
  });

  test('while any question is open, in any order of answers', () => {
    const { clock, happens, settled } = waiting({ timeoutMs: 1_000 });
    happens(arrives(CHOICE, { leg: 'where' }), arrives({ ...CHOICE, prompt: 'And when?' }, { leg: 'when' }));
    happens(chose(0, 'when'));
    clock.advance(1_000_000);
    expect(settled()).toBeNull();
    happens(chose(0, 'where'));
    clock.advance(1_000);
    expect(settled()?.by).toBe('timeout');
  });
});

test('stopWaiting ends the wait while the call is pending', async () => {
  const { clock, happens, over, settled } = waiting({
    stopWaiting: exchange => exchange.waitingFor?.type === 'user_choice',
  });
  happens(arrives(CHOICE));
  await over;
  expect([settled(), clock.pending()]).toEqual([null, 0]);
});

test('events of other calls have no effect', async () => {
  const { happens, isOverNow } = waiting();
  happens(resultArrives().map(each => ({ ...each, calls: ['other'] })));
  expect(await isOverNow()).toBe(false);
});
