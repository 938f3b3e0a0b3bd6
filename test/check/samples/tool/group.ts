import { eventsOf } from '../../../events/build.js';
import { someCall } from '../parts.js';
import type { Samples } from '../sample.js';

const a = someCall('a');
const b = someCall('b');
const begun = () => [...a.sent(), ...a.answered()];

export const groupSamples: Samples = [
  { story: 'the group_id of the call', events: eventsOf(begun(), a.oauth(), a.result()), status: 'pass' },
  {
    story: 'a group_id that nobody knows',
    events: eventsOf(begun(), a.result({ group_id: 'default' }, { status: 404 })),
    status: 'fail',
    says: /another group_id: "default"/,
  },
  {
    story: 'a view of another thread',
    events: eventsOf(
      begun(),
      a.posts({ type: 'view_update', group_id: '', view_type: 'diff', content: {} }, { status: 404 }),
    ),
    status: 'fail',
  },
  {
    story: 'the group_id of another call, which is of TOOL-ISOLATE',
    events: eventsOf(begun(), b.sent(), a.result({ group_id: 'thread_b' }, { status: 404 })),
    status: 'not-applicable',
  },
];
