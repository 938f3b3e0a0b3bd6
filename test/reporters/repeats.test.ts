import { describe, expect, test } from 'vitest';
import type { Exchange } from '../../src/events/exchange.js';
import type { Line } from '../../src/render/line.js';
import { jsonRepeats, plainRepeats } from '../../src/render/outputs/repeats.js';
import { summaryLines, summaryOf } from '../../src/render/outputs/repeats-summary.js';
import type { Ending, Reporter } from '../../src/render/outputs/reporter.js';
import { warningsOfAll } from '../../src/render/warnings.js';
import {
  acknowledged,
  answered,
  arrives,
  at,
  CHOICE,
  call,
  EVENT,
  eventsOf,
  exchangeOf,
  historyOf,
  INVOCATION,
  type Moment,
  RESULT,
  refused,
  resultArrives,
  timedOut,
  untrackedRequest,
} from '../events/build.js';
import { report } from './report.js';

describe('json', () => {
  /** A call, and the notice that its thread is over, with a status of its own. */
  function callInThread(id: string, group_id: string, closing: number): Moment[] {
    const sent = call({ invocation: { ...INVOCATION, id, group_id } });
    return [
      ...sent.map(moment => ({ ...moment, leg: `call ${id}`, calls: [id], thread: group_id })),
      ...untrackedRequest('close', closing).map(moment => ({
        ...moment,
        leg: `close ${id}`,
        thread: group_id,
      })),
    ];
  }

  /** Settles each of the calls. */
  function settlingAll(reporter: Reporter): Reporter {
    const settled = async (ending: Ending) => {
      for (const exchange of ending.history.exchanges.values())
        await reporter.settled?.({ ...ending, exchange });
    };
    return { ...reporter, settled };
  }

  test('adds a failed notice to the warnings of its call, and once to those of all calls', async () => {
    const { stdout } = await report(
      page => settlingAll(jsonRepeats(page, new Set(['text']))),
      eventsOf(callInThread('good', 'thread_good', 200), callInThread('bad', 'thread_bad', 500)),
    );
    const warning = { id: 'TOOL-CLOSE', message: '/close_thread was answered 500 instead of 200' };
    expect(JSON.parse(stdout)).toMatchObject({
      calls: [
        { invocation: { id: 'good' }, warnings: [] },
        { invocation: { id: 'bad' }, warnings: [warning] },
      ],
      warnings: [warning],
    });
  });
});

test('a rejected callback is reported immediately, and again at the end', async () => {
  const events = eventsOf(
    call(),
    acknowledged(),
    arrives({ ...RESULT, id: 'x' }, { status: 404 }),
    timedOut(),
  );
  const { stderr } = await report(plainRepeats, events);
  expect(stderr.match(/^warning: a tool_result was discarded with 404: id is "x"/gm)).toHaveLength(2);
});

test('the text of a call is whole in a pipe, and cut at the width of a terminal', async () => {
  const long = `Error: ${'a line of the tool '.repeat(10)}end`;
  const events = eventsOf(call(), acknowledged(), resultArrives({ text: long }));
  expect((await report(plainRepeats, events)).stdout).toContain(`${long}\n`);
  const [row = ''] = (await report(plainRepeats, events, { isTTY: true })).stdout.split('\n');
  expect(row).toMatch(/^ +1 ✗ error .*…$/);
  expect(row).toHaveLength(80);
});

describe('warnings', () => {
  test('merges equal warnings of several calls, and reports those of no call once', () => {
    const history = historyOf(
      at(0, call()),
      at(1_300, acknowledged()),
      resultArrives(),
      refused('wrong-address', 404),
    );
    const [first] = history.exchanges.values();
    if (!first) throw new Error('there is no call');
    history.exchanges.set('another', { ...first, key: 'another' });
    expect(warningsOfAll(history)).toEqual([
      { id: 'TOOL-OPAQUE', message: expect.stringContaining('1 post to a wrong callback URL') },
      { id: 'TOOL-ACK', message: 'the acknowledgement took 1.3s, more than 1000ms (2 times)' },
    ]);
  });

  test('counts the rest of many different warnings', () => {
    const strangers = Array.from({ length: 30 }, (_, index) =>
      arrives({ ...RESULT, id: `stranger ${index}` }, { leg: `l${index}` }),
    );
    const warnings = warningsOfAll(historyOf(call(), ...strangers));
    expect(warnings).toHaveLength(21);
    expect(warnings.at(-1)).toEqual({ id: 'TOOL-ID', message: '… and 10 more of this kind' });
  });
});

const text = (line: Line) => line.map(span => span.text).join('');
const succeeded = (ackMs: number, resultMs: number) =>
  exchangeOf(at(0, call()), at(ackMs, acknowledged()), at(resultMs, resultArrives()));

describe('a summary', () => {
  test('counts outcomes, and measures both times from the dispatch', () => {
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
      repeated: 0,
      silent: 0,
    });
    expect(summaryLines(summary).map(text)).toEqual([
      '4 calls: 2 success, 1 timeout, 1 without a result',
      'acknowledged after min 2ms · median 2ms · p99 4ms',
      'results after min 10ms · median 10ms · p99 30ms',
    ]);
  });

  test('TOOL-ISOLATE: counts callbacks that name another of the calls, but not those that name an unknown call', () => {
    const other = { ...INVOCATION, id: 'other' };
    const first = exchangeOf(
      call(),
      arrives({ ...RESULT, id: 'other' }, { leg: 'a' }),
      arrives({ ...RESULT, id: 'no one' }, { leg: 'b' }),
    );
    const second: Exchange = { ...exchangeOf(call()), invocation: other };
    const summary = summaryOf([first, second]);
    expect(summary.crossed).toBe(1);
    expect(summaryLines(summary).map(text).at(-1)).toBe('1 callback came to the URL of another call');
  });

  describe('TOOL-ISOLATE: a call that got a second result', () => {
    const repeated = exchangeOf(
      at(10, call()),
      at(20, arrives(RESULT, { leg: 'a' })),
      at(30, arrives(RESULT, { leg: 'b' })),
      at(40, arrives(RESULT, { leg: 'c' })),
    );
    const other = (sentAt: number, ...moments: Moment[][]): Exchange => ({
      ...exchangeOf(at(sentAt, [...call(), ...acknowledged()]), ...moments),
      invocation: { ...INVOCATION, id: 'other' },
    });
    const refusedOther = exchangeOf(at(15, [...call(), ...answered(404)]));

    test('is counted with the calls that ran at the same time and got nothing', () => {
      const summary = summaryOf([repeated, other(15), other(0, at(11, timedOut(11)))]);
      expect(summary).toMatchObject({ crossed: 0, repeated: 1, silent: 2 });
      expect(summaryLines(summary).map(text).at(-1)).toBe(
        '1 call got a second result, and 2 that ran at the same time have none',
      );
      const one = summaryLines(summaryOf([repeated, other(39)]));
      expect(one.map(text).at(-1)).toBe(
        '1 call got a second result, and 1 that ran at the same time has none',
      );
    });

    test.each<[string, Exchange[]]>([
      ['no call got nothing', [other(15, at(20, resultArrives()))]],
      ['the call that got nothing began later', [other(40)]],
      ['the call that got nothing ended before', [other(0, at(9, timedOut(9)))]],
      ['the tool refused the other call', [refusedOther]],
    ])('is not counted if %s', (_, others) => {
      expect(summaryOf([repeated, ...others])).toMatchObject({ crossed: 0, repeated: 0, silent: 0 });
    });
  });

  test('TOOL-ISOLATE: does not count discarded callbacks that name their own call', () => {
    const first = exchangeOf(call(), arrives(RESULT, { leg: 'a' }), arrives(EVENT, { leg: 'b' }));
    expect(first.arrivals.at(-1)?.verdict.kind).toBe('discarded');
    const second: Exchange = { ...exchangeOf(call()), invocation: { ...INVOCATION, id: 'other' } };
    expect(summaryOf([first, second]).crossed).toBe(0);
  });
});
