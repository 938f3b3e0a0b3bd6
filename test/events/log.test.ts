import { describe, expect, test } from 'vitest';
import type { Event, Fact } from '../../src/events/events.js';
import { createLog } from '../../src/events/log.js';
import { fakeClock } from '../support/fake-clock.js';

const fact = (): Fact => ({ kind: 'expired', what: 'linger', afterMs: 1 });

function logWithClock() {
  const clock = fakeClock();
  return { clock, log: createLog(() => clock.now()) };
}

test('each event has a sequence number, and its time since the start in microseconds', () => {
  const { clock, log } = logWithClock();
  expect(log.emit(fact())).toEqual({ ...fact(), seq: 0, at: 0 });
  clock.advance(1.23456);
  expect(log.emit(fact())).toEqual({ ...fact(), seq: 1, at: 1.235 });
});

describe('listeners', () => {
  test('receive all events from subscription to unsubscription', () => {
    const { log } = logWithClock();
    const heard: number[] = [];
    log.emit(fact());
    const leave = log.subscribe(event => heard.push(event.seq));
    log.emit(fact());
    log.emit(fact());
    leave();
    log.emit(fact());
    expect(heard).toEqual([1, 2]);
  });

  test('receive events in order, even if a listener emits one', () => {
    const { log } = logWithClock();
    const heard: number[] = [];
    log.subscribe(event => {
      if (event.seq === 0) log.emit(fact());
    });
    log.subscribe(event => heard.push(event.seq));
    log.emit(fact());
    expect(heard).toEqual([0, 1]);
  });
});

describe('the keeper', () => {
  test('receives the events one after the other; kept() waits for the last one', async () => {
    const { log } = logWithClock();
    const steps: string[] = [];
    log.storeEventsIn(async ({ seq }) => {
      steps.push(`begin ${seq}`);
      await Promise.resolve();
      steps.push(`end ${seq}`);
    });
    log.emit(fact());
    log.emit(fact());
    await log.stored();
    expect(steps).toEqual(['begin 0', 'end 0', 'begin 1', 'end 1']);
  });

  test('full disk: kept() rejects from then on, without an unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    const { log } = logWithClock();
    const kept: Event[] = [];
    log.storeEventsIn(async event => {
      if (event.seq === 1) throw new Error('ENOSPC');
      kept.push(event);
    });
    log.emit(fact());
    await log.stored();
    log.emit(fact());
    log.emit(fact());
    await new Promise(setImmediate);
    await expect(log.stored()).rejects.toThrow('ENOSPC');
    await expect(log.stored()).rejects.toThrow('ENOSPC');
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
    expect(kept.map(({ seq }) => seq)).toEqual([0]);
  });
});

describe('a group keeper', () => {
  test('receives events at once, and decides when they are stored', async () => {
    const { log } = logWithClock();
    const taken: number[] = [];
    const outcomes = [Promise.resolve(), Promise.reject(new Error('ENOSPC')), Promise.resolve()];
    log.storeEventsIn({
      take: ({ seq }) => void taken.push(seq),
      stored: () => outcomes.shift() ?? Promise.reject(new Error('asked too often')),
    });
    log.emit(fact());
    log.emit(fact());
    expect(taken).toEqual([0, 1]);
    await log.stored();
    await expect(log.stored()).rejects.toThrow('ENOSPC');
    await log.stored();
  });
});

test('a listener that throws is reported once; other listeners receive all events', () => {
  const { log } = logWithClock();
  const heard: (number | string)[] = [];
  log.subscribe(() => {
    throw new Error('a fault of theirs');
  });
  log.subscribe(event => heard.push(event.kind === 'warned' ? event.message : event.seq));
  log.emit(fact());
  log.emit(fact());
  expect(heard).toEqual([0, 'a listener failed: a fault of theirs', 2]);
});
