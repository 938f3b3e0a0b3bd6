import { eventsOf } from '../../../events/build.js';
import { someCall } from '../parts.js';
import type { Samples } from '../sample.js';

const a = someCall('a');
const b = someCall('b');
const begun = () => [...a.sent(), ...a.answered()];

export const idSamples: Samples = [
  { story: 'the id of the call', events: eventsOf(begun(), a.asks(), a.result()), status: 'pass' },
  {
    story: 'an id of the tool’s own',
    events: eventsOf(begun(), a.result({ id: 'job-7' }, { status: 404 })),
    status: 'fail',
    says: /another id: "job-7"/,
  },
  {
    story: 'a question with an id of the tool’s own',
    events: eventsOf(begun(), a.oauth({ id: 'A' }, { status: 404 })),
    status: 'fail',
  },
  {
    story: 'the id of another call, which is of TOOL-ISOLATE',
    events: eventsOf(begun(), b.sent(), a.result({ id: 'b' }, { status: 404 })),
    status: 'not-applicable',
  },
  {
    story: 'an event that names another call, which is of TOOL-SUB',
    events: eventsOf(begun(), a.news({ tool_call_id: 'x' }, { status: 404 })),
    status: 'not-applicable',
  },
];
