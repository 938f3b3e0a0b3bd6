import { someCall } from '../parts.js';
import { fails, passes, type Samples, skips } from '../sample.js';

const a = someCall('a');
const b = someCall('b');
const begun = () => [...a.sent(), ...a.answered()];

export const groupSamples: Samples = [
  passes('the group_id of the call', [begun(), a.oauth(), a.result()]),
  fails(
    'an unknown group_id',
    [begun(), a.result({ group_id: 'default' }, { status: 404 })],
    /another group_id: "default"/,
  ),
  fails('a view of another thread', [
    begun(),
    a.posts({ type: 'view_update', group_id: '', view_type: 'diff', content: {} }, { status: 404 }),
  ]),
  skips('the group_id of another call, which TOOL-ISOLATE covers', [
    begun(),
    b.sent(),
    a.result({ group_id: 'thread_b' }, { status: 404 }),
  ]),
];
