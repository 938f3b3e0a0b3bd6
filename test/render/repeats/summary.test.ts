import { describe, expect, test } from 'vitest';
import type { Exchange } from '../../../src/events/exchange.js';
import type { Line } from '../../../src/render/line.js';
import { summaryLines, summaryOf } from '../../../src/render/outputs/repeats.js';
import {
  acknowledged,
  arrives,
  at,
  CHOICE,
  call,
  EVENT,
  exchangeOf,
  INVOCATION,
  RESULT,
  resultArrives,
  timedOut,
} from '../../events/build.js';

const text = (line: Line) => line.map(span => span.text).join('');
const succeeded = (ackMs: number, resultMs: number) =>
  exchangeOf(at(0, call()), at(ackMs, acknowledged()), at(resultMs, resultArrives()));

describe('a summary', () => {
  test('counts outcomes, and takes both times from the dispatch', () => {
    const summary = summaryOf([
      succeeded(2, 10),
      succeeded(4, 30),
      exchangeOf(at(0, call()), at(900, timedOut(900))),
      exchangeOf(call(), arrives(CHOICE)),
    ]);
    expect(summary).toEqual({
      calls: 4,
      outcomes: { success: 2, timeout: 1, pending: 1 },
      acknowledged: { min: 2, median: 2, p99: 4 },
      results: { min: 10, median: 10, p99: 30 },
      crossed: 0,
    });
    expect(summaryLines(summary).map(text)).toEqual([
      '4 calls: 2 success, 1 timeout, 1 pending',
      'acknowledged after min 2ms · median 2ms · p99 4ms',
      'results after min 10ms · median 10ms · p99 30ms',
    ]);
  });

  test('TOOL-ISOLATE: a callback that names another of the calls is counted; one that names a stranger is not', () => {
    const other = { ...INVOCATION, id: 'other' };
    const first = exchangeOf(
      call(),
      arrives({ ...RESULT, id: 'other' }, { leg: 'a' }),
      arrives({ ...RESULT, id: 'no one' }, { leg: 'b' }),
    );
    const second: Exchange = { ...exchangeOf(call()), invocation: other };
    const summary = summaryOf([first, second]);
    expect(summary.crossed).toBe(1);
    expect(summaryLines(summary).map(text).at(-1)).toBe(
      '1 callback named a different call than their URL belongs to',
    );
  });

  test('TOOL-ISOLATE: what is discarded though it names its own call has named no other one', () => {
    const first = exchangeOf(call(), arrives(RESULT, { leg: 'a' }), arrives(EVENT, { leg: 'b' }));
    expect(first.arrivals.at(-1)?.verdict.kind).toBe('discarded');
    const second: Exchange = { ...exchangeOf(call()), invocation: { ...INVOCATION, id: 'other' } };
    expect(summaryOf([first, second]).crossed).toBe(0);
  });
});
