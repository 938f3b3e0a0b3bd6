import { eventsOf } from '../../../events/build.js';
import { planned, someCall } from '../parts.js';
import type { Samples } from '../sample.js';

const a = someCall('a', { call_id: 'fc_a' });
const b = someCall('b', { call_id: 'fc_b' });
const both = () => [...a.sent(), ...b.sent(), ...a.answered(), ...b.answered()];

export const isolateSamples: Samples = [
  {
    story: 'two calls at once, each with its own result',
    events: eventsOf(both(), b.result({ call_id: 'fc_b' }), a.result({ call_id: 'fc_a' })),
    status: 'pass',
    says: /2 calls that overlapped/,
  },
  {
    story: 'the result of a call at the URL of another one',
    events: eventsOf(both(), a.result({ id: 'b', group_id: 'thread_b' }, { status: 404 })),
    status: 'fail',
    says: /group_id, id of another call/,
  },
  {
    story: 'the thread of another call',
    events: eventsOf(both(), a.result({ group_id: 'thread_b' }, { status: 404 }), b.result()),
    status: 'fail',
  },
  {
    story: 'the call_id of another call',
    events: eventsOf(both(), a.result({ call_id: 'fc_b' }), b.result()),
    status: 'fail',
    says: /call_id/,
  },
  {
    story: 'one call after the other',
    events: eventsOf(a.sent(), a.answered(), a.result(), b.sent(), b.answered(), b.result()),
    status: 'not-applicable',
  },
  {
    story: 'one call where two were meant',
    events: eventsOf(planned(['TOOL-ISOLATE']), a.sent(), a.answered(), a.result()),
    status: 'could-not-run',
  },
];
