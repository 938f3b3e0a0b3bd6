import { planned, someCall } from '../parts.js';
import { fails, passes, type Samples, skips, unclear } from '../sample.js';

const a = someCall('a', { call_id: 'fc_a' });
const b = someCall('b', { call_id: 'fc_b' });
const both = () => [...a.sent(), ...b.sent(), ...a.answered(), ...b.answered()];

export const isolateSamples: Samples = [
  passes(
    'two concurrent calls, each with its own result',
    [both(), b.result({ call_id: 'fc_b' }), a.result({ call_id: 'fc_a' })],
    /2 calls that overlapped/,
  ),
  fails(
    'the result of a call at the URL of another call',
    [both(), a.result({ id: 'b', group_id: 'thread_b' }, { status: 404 })],
    /group_id, id of another call/,
  ),
  fails('the thread of another call', [
    both(),
    a.result({ group_id: 'thread_b' }, { status: 404 }),
    b.result(),
  ]),
  fails('the call_id of another call', [both(), a.result({ call_id: 'fc_b' }), b.result()], /call_id/),
  skips('two calls, one after the other', [
    a.sent(),
    a.answered(),
    a.result(),
    b.sent(),
    b.answered(),
    b.result(),
  ]),
  unclear('only one of two planned calls', [planned(['TOOL-ISOLATE']), a.sent(), a.answered(), a.result()]),
];
