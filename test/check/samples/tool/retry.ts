import { at, eventsOf } from '../../../events/build.js';
import { discovery, someCall } from '../parts.js';
import type { Samples } from '../sample.js';

const a = someCall('a');
const begun = () => [...a.sent(), ...a.answered()];
const fails = () => a.result({}, { status: 500 });

export const retrySamples: Samples = [
  {
    story: 'sent again with growing pauses',
    events: eventsOf(begun(), at(100, fails()), at(300, fails()), at(900, a.result())),
    status: 'pass',
    says: /after 200ms, 600ms/,
  },
  {
    story: 'sent again after a lost answer',
    events: eventsOf(begun(), at(100, a.result({}, { status: null })), at(300, a.result())),
    status: 'pass',
  },
  {
    story: 'sent again in other bytes',
    events: eventsOf(
      begun(),
      at(100, fails()),
      at(300, a.posts('{ "id": "a", "type": "tool_result", "group_id": "thread_a", "text": "done" }')),
    ),
    status: 'pass',
  },
  {
    story: 'sent again and again without a pause',
    events: eventsOf(begun(), at(100, fails()), at(101, fails()), at(103, a.result())),
    status: 'warn',
    says: /without growing pauses/,
  },
  {
    story: 'sent again and again after the same short pause',
    events: eventsOf(begun(), at(100, fails()), at(104, fails()), at(108, a.result())),
    status: 'warn',
    says: /after 4ms, 4ms: without growing pauses/,
  },
  {
    story: 'sent again after short pauses that grow',
    events: eventsOf(begun(), at(100, fails()), at(111, fails()), at(142, a.result())),
    status: 'pass',
  },
  {
    story: 'sent again after the same pause, twice',
    events: eventsOf(begun(), at(100, fails()), at(205, fails()), at(286, a.result())),
    status: 'pass',
    says: /after 105ms, 81ms: the pauses do not grow each time, which may be chance$/,
  },
  {
    story: 'sent again after the same pause, time and again',
    events: eventsOf(begun(), at(100, fails()), at(150, fails()), at(205, fails()), at(256, a.result())),
    status: 'warn',
    says: /after 50ms, 55ms, 51ms: without growing pauses$/,
  },
  {
    story: 'sent again after pauses of which one is long',
    events: eventsOf(begun(), at(100, fails()), at(150, fails()), at(450, fails()), at(500, a.result())),
    status: 'pass',
    says: /after 50ms, 300ms, 50ms$/,
  },
  {
    story: 'not sent again',
    events: eventsOf(begun(), at(100, fails()), at(5_100, a.waited())),
    status: 'warn',
    says: /within 5s.*--probe-timeout/,
  },
  {
    story: 'a call that nobody wants any more',
    events: eventsOf(begun(), a.cancelled(), fails()),
    status: 'not-applicable',
  },
  { story: 'nothing failed', events: eventsOf(begun(), a.result(), discovery()), status: 'not-applicable' },
];
