import { eventsOf } from '../../../events/build.js';
import { someCall } from '../parts.js';
import type { Samples } from '../sample.js';

const a = someCall('a', { call_id: 'fc_1' });
const plain = someCall('plain');
const begun = () => [...a.sent(), ...a.answered()];

export const callIdSamples: Samples = [
  {
    story: 'the call_id that was given',
    events: eventsOf(begun(), a.result({ call_id: 'fc_1' })),
    status: 'pass',
  },
  {
    story: 'no call_id, where one was given',
    events: eventsOf(begun(), a.result()),
    status: 'fail',
    says: /no call_id/,
  },
  {
    story: 'null, where one was given',
    events: eventsOf(begun(), a.result({ call_id: null })),
    status: 'fail',
  },
  {
    story: 'another one',
    events: eventsOf(begun(), a.asks({ call_id: 'FC_1' })),
    status: 'fail',
    says: /another call_id: "FC_1"/,
  },
  {
    story: 'one, where none was given',
    events: eventsOf(plain.sent(), plain.answered(), plain.result({ call_id: 'plain' })),
    status: 'fail',
    says: /another call_id: "plain"/,
  },
  {
    story: 'none, where none was given',
    events: eventsOf(plain.sent(), plain.answered(), plain.result({ call_id: null })),
    status: 'not-applicable',
  },
];
