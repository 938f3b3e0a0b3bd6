import { describe, expect, test } from 'vitest';
import type { Exchange } from '../../../src/events/exchange.js';
import type { Line } from '../../../src/render/line.js';
import { callLine, spreadOf, summaryLines, summaryOf } from '../../../src/render/repeats.js';
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

describe('a spread', () => {
  test.each([
    [[], null],
    [[7], { min: 7, median: 7, p99: 7 }],
    [[3, 1, 2], { min: 1, median: 2, p99: 3 }],
    [[4, 1, 3, 2], { min: 1, median: 2, p99: 4 }],
    [[511.93 - 500], { min: 11.93, median: 11.93, p99: 11.93 }],
    [Array.from({ length: 200 }, (_, index) => index + 1), { min: 1, median: 100, p99: 198 }],
  ])('of %j', (times, spread) => {
    expect(spreadOf(times)).toEqual(spread);
  });

  test('leaves the times as they were', () => {
    const times = [2, 1];
    spreadOf(times);
    expect(times).toEqual([2, 1]);
  });
});

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
      arrives({ ...RESULT, id: 'nobody' }, { leg: 'b' }),
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

describe('a call in a line', () => {
  test('that went well', () => {
    expect(text(callLine(7, succeeded(2, 10), null))).toBe(
      '   7 ✓ success  acknowledged    2ms result   10ms  done',
    );
  });

  test('that failed says why, in one safe line', () => {
    const failure = { code: 'timeout', message: 'no result\u001b[2J within 1s' } as const;
    expect(text(callLine(12, exchangeOf(at(0, call()), timedOut(1_000)), failure))).toBe(
      '  12 ✗ timeout  acknowledged      – result      –  no result␛[2J within 1s',
    );
  });

  test('tells the beginning of a long text', () => {
    const long = exchangeOf(call(), resultArrives({ text: `${'x'.repeat(100)}\nmore` }));
    expect(text(callLine(1, long, null))).toMatch(/ {2}x{60}…$/);
  });
});
