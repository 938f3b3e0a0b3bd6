import { describe, expect, test } from 'vitest';
import type { Event } from '../../../src/events/events.js';
import { chronicleOf, timelineOf, toolTimelineOf } from '../../../src/render/saved-timeline.js';
import {
  acknowledged,
  arrives,
  at,
  call,
  closed,
  EVENT,
  errand,
  eventsOf,
  INVOCATION,
  KEY,
  loaded,
  type Moment,
  resultArrives,
  THREAD,
  VIEW,
} from '../../events/build.js';
import { words } from '../../support/words.js';

/** The same moments for another call, in the same thread unless told. */
function second(moments: readonly Moment[], thread = THREAD): Moment[] {
  return moments.map((moment): Moment => {
    const leg = 'leg' in moment ? { leg: `second-${moment.leg}` } : {};
    return { ...moment, ...leg, calls: ['second'], thread } as Moment;
  });
}

const invocation = { ...INVOCATION, id: 'second' };
const twoCalls = (thread = THREAD): Event[] =>
  eventsOf(
    errand('discovery'),
    loaded(),
    call(),
    second(call({ invocation: { ...invocation, group_id: thread } }), thread),
    acknowledged(),
    second(acknowledged()),
    resultArrives(),
    second(resultArrives({ id: 'second', group_id: thread }), thread),
    closed(),
  );

const told = (events: readonly Event[]) =>
  chronicleOf(events).chapters.map(chapter => timelineOf(chapter).map(words));

test('a recorded callback has the status that the runtime answered', () => {
  const [lines = []] = told(
    eventsOf(call(), acknowledged(), at(9, resultArrives({ id: 'x' }, { status: 200 }))),
  );
  expect(lines.at(-1) ?? '').toMatch(
    /✗ tool_result matches no pending call: id is "x", .*; the runtime answered 200$/,
  );
});

test('a recorded subscription that the runtime cancelled is shown as one that we cancelled', () => {
  const subscribed = resultArrives({ subscription: true }, { leg: 'result' });
  const news = arrives(EVENT, { leg: 'news' });
  const cancel = errand('cancel').map((moment): Moment => ({ ...moment, calls: [KEY] }));
  const [lines = []] = told(eventsOf(call(), acknowledged(), subscribed, news, at(9, cancel)));
  expect(lines.join('\n')).toMatch(
    /the subscription was canceled, after 1 event\n.*call canceled, answered 200/,
  );
});

describe('the chapters', () => {
  test('of a single call are one, with all there is', () => {
    const { chapters, whole } = chronicleOf(eventsOf(loaded(), call(), acknowledged(), resultArrives()));
    expect(chapters).toEqual([
      {
        history: whole,
        exchange: whole.exchanges.get(KEY),
        events: expect.any(Array),
        steps: expect.any(Array),
      },
    ]);
  });

  test('of nothing are one, without a call', () => {
    expect(chronicleOf([]).chapters.map(({ exchange }) => exchange)).toEqual([undefined]);
  });

  test('of several calls begin with what belongs to none, then each has its own', () => {
    const { chapters } = chronicleOf(twoCalls());
    expect(chapters.map(({ exchange }) => exchange?.key)).toEqual([undefined, KEY, 'second']);
    const [general = [], ...calls] = told(twoCalls());
    expect(general.map(line => line.trim())).toEqual([expect.stringContaining('discovered demo')]);
    for (const lines of calls) expect(lines.filter(line => line.includes('✓ sent'))).toHaveLength(1);
  });

  test('a closed thread is told with each of its calls, and with no other', () => {
    const hasClosed = (lines: readonly string[]) => lines.some(line => line.includes('thread closed'));
    expect(told(twoCalls()).map(hasClosed)).toEqual([false, true, true]);
    expect(told(twoCalls('thread_other')).map(hasClosed)).toEqual([false, true, false]);
  });

  test('each call ends as it does in the whole', () => {
    const { chapters, whole } = chronicleOf(twoCalls());
    for (const { exchange } of chapters.slice(1))
      expect(exchange).toEqual(whole.exchanges.get(exchange?.key ?? ''));
  });
});

test('the timeline has the steps of the live view, each with its time in the margin', () => {
  const { chapters } = chronicleOf(eventsOf(call(), at(4, acknowledged()), at(1_204, resultArrives())));
  expect(chapters.flatMap(timelineOf).map(words)).toEqual([
    '     0ms ✓ sent edit_file to http://127.0.0.1:3001/invoke',
    '     4ms ✓ acknowledged with 200 after 4ms',
    '    1.2s ✓ result after 1.2s',
  ]);
});

test('what a call still waits for stands at the end', () => {
  const [line = ''] = told(eventsOf(call(), acknowledged())).flat().slice(-1);
  expect(line).toMatch(/… waiting for the result$/);
});

test('of very many callbacks none is left out, though a history forgets', () => {
  const views = Array.from({ length: 2_500 }, (_, index) => arrives(VIEW, { leg: `view-${index}` }));
  const lines = told(eventsOf(call(), ...views)).flat();
  expect(lines.filter(line => line.includes('view diff'))).toHaveLength(2_500);
});

test('that of a tool has what a mock tells', () => {
  const matched: Moment[] = [{ kind: 'matched', fixture: 'edit-main', calls: [KEY] }];
  const [received = []] = toolTimelineOf(eventsOf(call(), matched, acknowledged()));
  expect(words(received)).toBe('     1ms → edit_file call_abc123 (thread_xyz) answered by edit-main');
});
